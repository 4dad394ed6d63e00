// Each server has the JavaScript client at /client/.
import { connect } from "/client/index.js";

const scheme = location.protocol === "https:" ? "wss" : "ws";
const store = connect(`${scheme}://${location.host}/`).store("counter");
const [count, increment, run] = ["count", "increment", "run"].map((id) => document.getElementById(id));

let isRunning = false;
increment.onclick = () => store.send({ type: "incrementTapped" });
run.onclick = () => store.send({ type: isRunning ? "stopTapped" : "startTapped" });

store.subscribe((state) => {
  isRunning = state.isRunning;
  count.textContent = state.count;
  run.textContent = isRunning ? "Stop" : "Start";
});
