// SPDX-License-Identifier: Apache-2.0

/** Lets a row be dragged by its handle. Until it is dropped, rows are only shown elsewhere. */
export function draggable(row, handle, list, dropped, ended) {
	handle.onpointerdown = ({ button, pointerId, clientY: began }) => {
		if (button) return;
		handle.setPointerCapture(pointerId);
		const rows = [...list.children];
		const from = rows.indexOf(row);
		const height = row.offsetHeight;
		const middles = rows.map((row) => row.offsetTop + row.offsetHeight / 2);
		let to = from;
		list.isDragging = true;
		row.classList.add("dragged");
		list.className = "dragging";
		handle.onpointermove = ({ clientY }) => {
			const by = clientY - began;
			to = middles.filter((middle, i) => i !== from && middle < middles[from] + by).length;
			rows.forEach((other, i) => {
				const makesWay = (i > from && i <= to ? -height : 0) + (i < from && i >= to ? height : 0);
				other.style.transform = `translateY(${other === row ? by : makesWay}px)`;
			});
		};
		handle.onlostpointercapture = () => {
			handle.onpointermove = handle.onlostpointercapture = null;
			row.classList.remove("dragged");
			list.className = "";
			for (const row of rows) row.style.transform = "";
			list.isDragging = false;
			if (to !== from) dropped(to);
			ended();
		};
		handle.onpointercancel = () => (to = from);
	};
}
