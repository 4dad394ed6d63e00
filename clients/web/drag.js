// SPDX-License-Identifier: Apache-2.0

/**
 * Lets a row of a list be dragged by its handle, by mouse, pen or finger. Nothing moves in the document
 * until it is dropped: the rows are only shown elsewhere.
 */
export function draggable(row, handle, list, dropped, ended) {
  handle.onpointerdown = (down) => {
    if (down.button !== 0) return;
    handle.setPointerCapture(down.pointerId);
    const rows = [...list.children];
    const from = rows.indexOf(row);
    const boxes = rows.map((row) => [row.offsetTop, row.offsetHeight]);
    let to = from;
    list.isDragging = true;
    row.classList.add("dragged");
    list.classList.add("dragging");

    handle.onpointermove = (event) => {
      const by = event.clientY - down.clientY;
      const middle = boxes[from][0] + boxes[from][1] / 2 + by;
      to = boxes.filter(([top, height], i) => i !== from && top + height / 2 < middle).length;
      rows.forEach((other, i) => {
        const shift = other === row ? by : i > from && i <= to ? -boxes[from][1] : i < from && i >= to ? boxes[from][1] : 0;
        other.style.transform = shift ? `translateY(${shift}px)` : "";
      });
    };
    const end = (isDropped) => {
      handle.onpointermove = handle.onpointerup = handle.onpointercancel = null;
      row.classList.remove("dragged");
      list.classList.remove("dragging");
      for (const row of rows) row.style.transform = "";
      list.isDragging = false;
      if (isDropped && to !== from) dropped(to);
      ended();
    };
    handle.onpointerup = () => end(true);
    handle.onpointercancel = () => end(false);
  };
}
