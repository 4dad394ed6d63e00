import { serve } from "../../clients/javascript/stores.js";

serve({
  initial: { count: 0 },
  update: (state, { type }) => {
    if (type === "incrementTapped") return { count: state.count + 1 };
    if (type === "resetTapped") return { count: 0 };
  },
});
