// SPDX-License-Identifier: Apache-2.0
// Adds zooming to the pictures of a report, which are complete without it. A picture is drawn again from the buckets of its
// series: each column from the lowest to the highest value of its buckets, as in svg.c, so that no zoom hides an extreme.
"use strict";
(() => {
	const data = JSON.parse(document.getElementById("data").textContent);
	const LEFT = 46, RIGHT = 392, TOP = 12, BOTTOM = 150, COLUMNS = 692;
	const isNumber = (x) => typeof x === "number";
	const short = (x) => (Math.abs(x) >= 1e6 || (x !== 0 && Math.abs(x) < 1e-3) ? x.toExponential(1) : String(+x.toPrecision(4)));

	function make(tag, attributes, text) {
		const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
		for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
		if (text !== undefined) element.textContent = text;
		return element;
	}

	// The columns of a part of the series, each with the extremes of all its buckets.
	function reduce(series, from, to) {
		const columns = new Map();
		let low = Infinity, high = -Infinity;
		for (let i = 0; i < series.y.length; i++) {
			const x = series.x_first + i * series.x_step;
			if (x + series.x_step <= from || x > to) continue;
			const place = Math.max(0, Math.min(COLUMNS - 1, Math.round(((x - from) / (to - from || 1)) * (COLUMNS - 1))));
			const column = columns.get(place) || { low: Infinity, high: -Infinity, last: null, broken: false };
			column.broken = column.broken || series.nonfinite[i] > 0;
			if (isNumber(series.low[i])) {
				column.low = Math.min(column.low, series.low[i]);
				column.high = Math.max(column.high, series.high[i]);
				column.last = series.y[i];
				low = Math.min(low, series.low[i]);
				high = Math.max(high, series.high[i]);
			}
			columns.set(place, column);
		}
		return { columns: [...columns].sort((a, b) => a[0] - b[0]), low, high };
	}

	function draw(svg, series, from, to) {
		const { columns, low, high } = reduce(series, from, to);
		if (low > high) return false;
		const isLogarithmic = low > 0 && high / low > 1000;
		const scale = isLogarithmic ? Math.log10 : (v) => v;
		const bottom = scale(low), span = scale(high) - bottom || 1;
		const y = (v) => (high === low ? (TOP + BOTTOM) / 2 : TOP + (1 - (scale(v) - bottom) / span) * (BOTTOM - TOP)).toFixed(1);
		const x = (place) => (LEFT + place / 2).toFixed(1);
		let ranges = "", line = "", broken = "", isOpen = false;
		for (const [place, column] of columns) {
			if (column.last !== null) {
				if (column.high > column.low) ranges += `M${x(place)} ${y(column.low)}V${y(column.high)}`;
				line += `${isOpen ? "L" : "M"}${x(place)} ${y(column.last)}`;
				isOpen = true;
			}
			if (column.broken) { broken += `M${x(place)} ${TOP}V${BOTTOM}`; isOpen = false; }
		}
		const word = svg.dataset.word;
		svg.replaceChildren(make("path", { class: "grid", d: `M${LEFT} ${TOP}H${RIGHT}M${LEFT} ${BOTTOM}H${RIGHT}` }),
			make("text", { x: LEFT - 4, y: TOP + 4, "text-anchor": "end" }, short(high)),
			make("text", { x: LEFT - 4, y: BOTTOM + 4, "text-anchor": "end" }, short(low)),
			make("text", { x: LEFT, y: BOTTOM + 14 }, short(from)), make("text", { x: RIGHT, y: BOTTOM + 14, "text-anchor": "end" }, short(to)),
			make("text", { x: (LEFT + RIGHT) / 2, y: 176, "text-anchor": "middle" }, `${word}${isLogarithmic ? "; values on a logarithmic scale" : ""}; double click for all`),
			make("path", { class: "nonfinite", d: broken }), make("path", { class: "range", d: ranges }), make("path", { class: "line", d: line }));
		return true;
	}

	for (const figure of document.querySelectorAll("figure[data-series]")) {
		const svg = figure.querySelector("svg");
		const series = data.runs[figure.dataset.run].parts[figure.dataset.part].series[figure.dataset.series];
		if (!series.low || series.y.length < 3) continue;
		const whole = [...svg.childNodes], all = { from: series.x_first, to: series.x_first + (series.y.length - 1) * series.x_step };
		let view = { ...all }, begin = null, chosen = null;
		const texts = [...svg.querySelectorAll("text")];
		svg.dataset.word = texts.length ? texts[texts.length - 1].textContent.replace(", logarithmic scale", "") : "steps";
		const at = (event) => {
			const box = svg.getBoundingClientRect();
			return Math.max(LEFT, Math.min(RIGHT, ((event.clientX - box.left) / box.width) * 400));
		};
		const value = (px) => view.from + ((px - LEFT) / (RIGHT - LEFT)) * (view.to - view.from);
		svg.addEventListener("pointerdown", (event) => {
			begin = at(event);
			chosen = make("rect", { class: "chosen", y: TOP, height: BOTTOM - TOP, x: begin, width: 0 });
			svg.append(chosen);
			svg.setPointerCapture(event.pointerId);
		});
		svg.addEventListener("pointermove", (event) => {
			if (begin === null) return;
			const now = at(event);
			chosen.setAttribute("x", Math.min(begin, now));
			chosen.setAttribute("width", Math.abs(now - begin));
		});
		const end = (event) => {
			if (begin === null) return;
			const ends = [value(begin), value(at(event))].sort((a, b) => a - b), isDrag = Math.abs(at(event) - begin) > 5;
			begin = null;
			chosen.remove();
			if (!isDrag || event.type === "pointercancel" || ends[1] - ends[0] < series.x_step) return;
			if (draw(svg, series, ends[0], ends[1])) view = { from: ends[0], to: ends[1] };
		};
		svg.addEventListener("pointerup", end);
		svg.addEventListener("pointercancel", end);
		svg.addEventListener("dblclick", () => { view = { ...all }; svg.replaceChildren(...whole); });
		svg.append(make("title", {}, "drag to zoom, double click for all"));
		whole.push(svg.lastChild);
	}
	// A link into a part that is folded away opens it.
	const open = () => {
		const part = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
		if (part && part.tagName === "DETAILS") part.open = true;
	};
	addEventListener("hashchange", open);
	open();
})();
