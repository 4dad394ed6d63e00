from statewire.stores import serve

def update(state, event):
    match event["type"]:
        case "incrementTapped":
            return {"count": state["count"] + 1}
        case "resetTapped":
            return {"count": 0}

serve(initial={"count": 0}, update=update)
