// SPDX-License-Identifier: Apache-2.0
// Draws the pictures of a page from the JSON of its result. Each picture knows the keys that it needs and is left out
// where they are missing: series (curves), tables `points` (a value over the order of calls), `elements` (a heat map),
// `lanes` and `bars` (what tracks did over time: lanes.js), `edges` (a graph of callers and callees), `spans` (calls over time), `source` (lines with what they lost), `pictures` (tensors of
// a model: a histogram and a map each).
"use strict";
(() => {
	const data = JSON.parse(document.getElementById("data").textContent);
	const place = document.getElementById("pictures");
	const COLOURS = ["#0b7285", "#c2410c", "#6741d9", "#2b8a3e", "#c2255c", "#1864ab", "#846358", "#e67700", "#087f5b", "#862e9c"];
	const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	const isNumber = (x) => typeof x === "number" && Number.isFinite(x);
	const short = (x) => (Math.abs(x) >= 1e5 || (x !== 0 && Math.abs(x) < 1e-3) ? x.toExponential(2) : String(+x.toFixed(3)));

	function make(tag, attributes, ...children) {
		const element = document.createElement(tag);
		for (const [key, value] of Object.entries(attributes || {}))
			if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
			else element.setAttribute(key, value);
		element.append(...children);
		return element;
	}

	function section(title, caption) {
		const body = make("figure");
		place.append(make("section", {}, make("h2", {}, title), body));
		if (caption) body.append(make("figcaption", {}, caption));
		return body;
	}

	// From red (nothing left) over yellow to green (all there).
	function shade(share) {
		const hue = 120 * Math.max(0, Math.min(1, share));
		return `hsl(${hue} 65% 45%)`;
	}

	/* ---- A plane with axes that can be zoomed ---- */

	function ticks(from, to, count) {
		const rough = (to - from) / Math.max(1, count);
		const power = 10 ** Math.floor(Math.log10(rough || 1));
		const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) || power;
		const list = [];
		for (let t = Math.ceil(from / step) * step; t <= to + step * 1e-9; t += step) list.push(Math.abs(t) < step * 1e-9 ? 0 : t);
		return list;
	}

	// Powers of ten, at most seven.
	function decades(from, to) {
		const first = Math.ceil(Math.log10(from)), last = Math.floor(Math.log10(to));
		const step = Math.max(1, Math.ceil((last - first) / 6)), list = [];
		for (let e = first; e <= last; e += step) list.push(10 ** e);
		return list.length ? list : [from];
	}

	// As many digits behind the point as the step between two labels needs, however far one has zoomed in.
	const labelled = (t, step) => (step > 0 && step < 1e-3 && Math.abs(t) < 1e5 ? t.toFixed(Math.min(9, Math.ceil(-Math.log10(step) - 1e-9))) : short(t));

	// draw(plane): plane has context, x(), y(), from, to. nearest(x, y) gives the text for the pointer.
	function plot(body, bounds, labels, draw, nearest) {
		const canvas = make("canvas", { role: "img", "aria-label": labels.title });
		const tip = make("div", { class: "tip" }, "drag to zoom, double click for all");
		const view = { from: bounds.from, to: bounds.to };
		const edge = { left: labels.rows ? 8 : 52, right: 10, top: 24, bottom: 34 };
		let drag = null;

		function plane() {
			const width = canvas.clientWidth || 600;
			const height = bounds.height || Math.max(180, Math.min(360, width * 0.45));
			const ratio = window.devicePixelRatio || 1;
			canvas.style.height = `${height}px`;
			canvas.width = width * ratio;
			canvas.height = height * ratio;
			const context = canvas.getContext("2d");
			context.scale(ratio, ratio);
			const low = bounds.low, high = bounds.high > bounds.low ? bounds.high : bounds.low + 1;
			const place = bounds.isLog ? (v) => (Math.log10(Math.max(v, low)) - Math.log10(low)) / (Math.log10(high) - Math.log10(low)) : (v) => (v - low) / (high - low);
			const across = width - edge.left - edge.right, down = height - edge.top - edge.bottom;
			const span = view.to - view.from || 1;
			return { context, width, height, from: view.from, to: view.to, pixels: across,
				x: (v) => edge.left + ((v - view.from) / span) * across, y: (v) => edge.top + (1 - place(v)) * down,
				at: (px) => view.from + ((px - edge.left) / across) * span, low, high };
		}
		function axes(p) {
			const c = p.context;
			c.font = "12px system-ui, sans-serif";
			c.fillStyle = style("--soft");
			c.strokeStyle = style("--line");
			c.lineWidth = 1;
			c.textAlign = "right";
			for (const t of labels.rows ? [] : bounds.isLog ? decades(p.low, p.high) : ticks(p.low, p.high, 5)) {
				c.beginPath(); c.moveTo(edge.left, p.y(t)); c.lineTo(p.width - edge.right, p.y(t)); c.stroke();
				c.fillText(bounds.isLog ? `1e${Math.round(Math.log10(t))}` : short(t), edge.left - 6, p.y(t) + 4);
			}
			c.textAlign = "center";
			const across = ticks(p.from, p.to, p.width / 80);
			for (const t of across) c.fillText(labelled(t, across[1] - across[0]), p.x(t), p.height - 18);
			c.fillText(labels.x, edge.left + p.pixels / 2, p.height - 4);
			c.textAlign = "left";
			c.fillText(labels.y, 4, 12);
		}
		function paint() {
			const p = plane();
			axes(p);
			p.context.save();
			p.context.beginPath();
			p.context.rect(edge.left, 0, p.pixels + 4, p.height - edge.bottom + 4);
			p.context.clip();
			draw(p);
			if (drag) {
				p.context.fillStyle = style("--mark") + "33";
				p.context.fillRect(Math.min(drag.from, drag.to), 0, Math.abs(drag.to - drag.from), p.height);
			}
			p.context.restore();
			return p;
		}
		canvas.addEventListener("pointerdown", (e) => { drag = { from: e.offsetX, to: e.offsetX }; canvas.setPointerCapture(e.pointerId); });
		canvas.addEventListener("pointermove", (e) => {
			if (drag) { drag.to = e.offsetX; paint(); }
			else tip.textContent = nearest(plane(), e.offsetX, e.offsetY) || "\u00a0", paint();
		});
		canvas.addEventListener("pointerup", () => {
			const p = plane(), ends = drag ? [p.at(drag.from), p.at(drag.to)].sort((a, b) => a - b) : [0, 0];
			if (drag && Math.abs(drag.to - drag.from) > 6) { view.from = Math.max(bounds.from, ends[0]); view.to = Math.min(bounds.to, ends[1]); }
			drag = null;
			paint();
		});
		canvas.addEventListener("pointercancel", () => { drag = null; paint(); });
		canvas.addEventListener("dblclick", () => { view.from = bounds.from; view.to = bounds.to; paint(); });
		new ResizeObserver(paint).observe(canvas);
		body.append(canvas, tip);
		return paint;
	}

	/* ---- Curves ---- */

	// Of all points in a column of pixels the first, lowest, highest and last are drawn: no extreme is lost at any zoom.
	function drawCurve(p, curve) {
		const c = p.context, first = Math.max(0, Math.floor((p.from - curve.x_first) / curve.x_step) - 1);
		const last = Math.min(curve.y.length - 1, Math.ceil((p.to - curve.x_first) / curve.x_step) + 1);
		let column = null;
		const flush = () => {
			if (!column) return;
			for (const v of [column.first, column.low, column.high, column.last]) c.lineTo(column.px, p.y(v));
		};
		c.beginPath();
		for (let i = first; i <= last; i++) {
			const y = curve.y[i];
			if (!isNumber(y)) { flush(); column = null; c.stroke(); c.beginPath(); continue; }
			const px = Math.round(p.x(curve.x_first + i * curve.x_step));
			if (column && column.px === px) { column.low = Math.min(column.low, y); column.high = Math.max(column.high, y); column.last = y; }
			else { flush(); column = { px, first: y, low: y, high: y, last: y }; }
		}
		flush();
		c.stroke();
		if (last - first < 3) for (let i = first; i <= last; i++)
			if (isNumber(curve.y[i])) c.fillRect(p.x(curve.x_first + i * curve.x_step) - 2, p.y(curve.y[i]) - 2, 4, 4);
	}

	function legend(body, names, colour, isShown, changed) {
		const box = make("div", { class: "legend" });
		for (const name of names) {
			const check = make("input", { type: "checkbox", onchange: () => { isShown[name] = check.checked; changed(); } });
			check.checked = isShown[name];
			box.append(make("label", {}, check, make("i", { style: `background:${colour[name]}` }), name));
		}
		body.append(box);
	}

	function curves() {
		const groups = new Map();
		for (const [key, one] of Object.entries(data.series || {})) {
			if (!one.y.some(isNumber) || /^(track|syscalls|device)_\d/.test(key)) continue; // over time: lanes show them
			const unit = one.unit || "";
			if (!groups.has(unit)) groups.set(unit, []);
			groups.get(unit).push({ ...one, name: one.title || key });
		}
		for (const [unit, list] of groups) {
			const what = `${unit || "values"} over steps`;
			const body = section(list.length === 1 ? list[0].name : what);
			const colour = {}, isShown = {};
			list.forEach((one, i) => { colour[one.name] = COLOURS[i % COLOURS.length]; isShown[one.name] = i < 12; });
			const ys = list.flatMap((one) => one.y.filter(isNumber));
			const bounds = { from: Math.min(...list.map((one) => one.x_first)),
				to: Math.max(...list.map((one) => one.x_first + Math.max(1, one.y.length - 1) * one.x_step)),
				low: Math.min(0, ys.reduce((a, b) => Math.min(a, b), Infinity)), high: ys.reduce((a, b) => Math.max(a, b), -Infinity) };
			const paint = plot(body, bounds, { x: "step", y: unit, title: what }, (p) => {
				for (const one of list.filter((o) => isShown[o.name])) { p.context.strokeStyle = p.context.fillStyle = colour[one.name]; p.context.lineWidth = 1.6; drawCurve(p, one); }
			}, (p, px) => {
				const x = p.at(px);
				return list.filter((o) => isShown[o.name]).slice(0, 4).map((one) => {
					const i = Math.round((x - one.x_first) / one.x_step);
					return isNumber(one.y[i]) ? `${one.name}: ${short(one.y[i])} at ${short(one.x_first + i * one.x_step)}` : "";
				}).filter(Boolean).join("  \u00b7  ");
			});
			if (list.length > 1) legend(body, list.map((one) => one.name), colour, isShown, paint);
		}
	}

	/* ---- Points: digits over the order of calls ---- */

	function triangle(c, x, y, isUp) {
		const s = isUp ? -4 : 4;
		c.beginPath(); c.moveTo(x - 4, y - s / 2); c.lineTo(x + 4, y - s / 2); c.lineTo(x, y + s); c.closePath(); c.fill();
	}

	function points() {
		const all = (data.tables.points || []).filter((p) => isNumber(p.digits));
		if (!all.length) return;
		const body = section("Digits over the run", "Each mark is a value of a call: up-pointing what went in, down-pointing what came out.");
		const worst = new Map();
		for (const p of all) worst.set(p.site, Math.min(worst.has(p.site) ? worst.get(p.site) : Infinity, p.digits));
		const sites = [...worst.keys()].sort((a, b) => worst.get(a) - worst.get(b));
		const colour = {}, isShown = {};
		sites.forEach((site, i) => { colour[site] = COLOURS[i % COLOURS.length]; isShown[site] = i < 40; });
		const filter = make("input", { type: "search", placeholder: "file, line or function", "aria-label": "show only", oninput: () => {
			for (const site of sites) isShown[site] = site.includes(filter.value);
			paint();
		} });
		const what = make("select", { "aria-label": "what to show", onchange: () => { measure(); paint(); } },
			...[["digits", "digits"], ["size", "size of the value"], ["deviation", "deviation between runs"]].map(([value, text]) => make("option", { value }, text)));
		const log = make("input", { type: "checkbox", onchange: () => { measure(); paint(); } });
		body.append(make("div", { class: "controls" }, make("label", {}, "show ", what), make("label", {}, log, " logarithmic"), make("label", {}, "show only ", filter)));
		// On a logarithmic scale there is no place for 0.
		const shown = () => all.filter((p) => isShown[p.site] && isNumber(p[what.value]) && (!log.checked || p[what.value] > 0));
		const bounds = { from: all[0].order, to: all[0].order, low: 0, high: 1 };
		const labels = { x: "order of calls", y: data.unit || "bits", title: "digits over the run" };
		for (const p of all) { bounds.from = Math.min(bounds.from, p.order); bounds.to = Math.max(bounds.to, p.order + 1); }
		function measure() {
			const values = all.map((p) => p[what.value]).filter((v) => isNumber(v) && (!log.checked || v > 0));
			bounds.isLog = log.checked;
			bounds.low = values.reduce((a, b) => Math.min(a, b), log.checked ? Infinity : 0);
			bounds.high = values.reduce((a, b) => Math.max(a, b), log.checked ? -Infinity : 1e-300);
			if (log.checked && !(bounds.low < bounds.high)) { bounds.low = (bounds.high > 0 ? bounds.high : 1) / 10; bounds.high = bounds.low * 100; }
			labels.y = what.value === "digits" ? data.unit || "bits" : what.value;
		}
		measure();
		const paint = plot(body, bounds, labels, (plane) => {
			for (const p of shown()) {
				if (p.order < plane.from || p.order > plane.to) continue;
				plane.context.fillStyle = colour[p.site];
				triangle(plane.context, plane.x(p.order), plane.y(p[what.value]), p.direction === "in");
			}
		}, (plane, px, py) => {
			let best = null, distance = 400;
			for (const p of shown()) {
				const d = (plane.x(p.order) - px) ** 2 + (plane.y(p[what.value]) - py) ** 2;
				if (d < distance) { distance = d; best = p; }
			}
			return best && `${best.site}  ${best.value || ""} ${best.direction}: ${short(best[what.value])}${best.step === null || best.step === undefined ? "" : `, step ${best.step}`}`;
		});
		legend(body, sites.slice(0, 40), colour, isShown, paint);
		histogram(all);
	}

	function histogram(all) {
		const out = all.filter((p) => p.direction !== "in").map((p) => p.digits);
		if (out.length < 2) return;
		const high = Math.max(1, Math.ceil(out.reduce((a, b) => Math.max(a, b), 0)));
		const bins = new Array(high + 1).fill(0);
		for (const d of out) bins[Math.max(0, Math.min(high, Math.floor(d)))]++;
		const top = Math.max(...bins);
		const body = section("How many results have how many digits");
		plot(body, { from: 0, to: high + 1, low: 0, high: top }, { x: data.unit || "bits", y: "results", title: "histogram of digits" }, (p) => {
			bins.forEach((n, i) => {
				p.context.fillStyle = shade(i / high);
				p.context.fillRect(p.x(i) + 1, p.y(n), Math.max(1, p.x(i + 1) - p.x(i) - 2), p.y(0) - p.y(n));
			});
		}, (p, px) => { const i = Math.floor(p.at(px)); return bins[i] === undefined ? "" : `${bins[i]} results with ${i} to ${i + 1}`; });
	}

	/* ---- Elements of a tensor ---- */

	function elements() {
		const tensors = new Map();
		for (const row of data.tables.elements || []) {
			if (!tensors.has(row.tensor)) tensors.set(row.tensor, []);
			tensors.get(row.tensor).push(row);
		}
		if (!tensors.size) return;
		const body = section("Digits within a tensor", "Each square is one element that was sampled, row by row; hover for its place.");
		const choice = make("select", { "aria-label": "tensor", onchange: () => paint() }, ...[...tensors.keys()].map((name) => make("option", { value: name }, name)));
		const canvas = make("canvas", { role: "img", "aria-label": "digits within a tensor" });
		const tip = make("div", { class: "tip" }, "\u00a0");
		let cell = 12, columns = 1;
		function paint() {
			const rows = tensors.get(choice.value), extents = String(rows[0].shape || "").split("x").map(Number);
			const width = canvas.clientWidth || 600, ratio = window.devicePixelRatio || 1;
			const last = extents[extents.length - 1];
			columns = last > 1 && rows.length % last === 0 && last <= 128 ? last : Math.ceil(Math.sqrt(rows.length));
			cell = Math.max(2, Math.min(22, width / columns));
			const height = Math.ceil(rows.length / columns) * cell;
			canvas.style.height = `${height}px`;
			canvas.width = width * ratio; canvas.height = height * ratio;
			const c = canvas.getContext("2d"), high = rows.reduce((a, r) => Math.max(a, isNumber(r.digits) ? r.digits : 0), 1);
			c.scale(ratio, ratio);
			rows.forEach((row, i) => {
				c.fillStyle = isNumber(row.digits) ? shade(row.digits / high) : style("--line");
				c.fillRect((i % columns) * cell, Math.floor(i / columns) * cell, cell - 1, cell - 1);
			});
		}
		canvas.addEventListener("pointermove", (e) => {
			const row = tensors.get(choice.value)[Math.floor(e.offsetY / cell) * columns + Math.floor(e.offsetX / cell)];
			tip.textContent = row && e.offsetX < columns * cell ? `element ${row.place}: ${isNumber(row.digits) ? short(row.digits) : "not a number"}` : "\u00a0";
		});
		body.append(make("div", { class: "controls" }, choice), canvas, tip);
		new ResizeObserver(paint).observe(canvas);
	}

	/* ---- Callers and callees ---- */

	function graph() {
		const edges = data.tables.edges || [];
		if (!edges.length) return;
		const depth = new Map(), lost = new Map(), calls = new Map();
		const callees = new Set(edges.map((e) => e.callee));
		for (const e of edges) {
			if (!callees.has(e.caller)) depth.set(e.caller, 0);
			lost.set(e.callee, Math.max(lost.get(e.callee) || 0, e.lost || 0));
			calls.set(e.callee, (calls.get(e.callee) || 0) + (e.calls || 0));
		}
		for (let round = 0; round < 12; round++)
			for (const e of edges)
				if (depth.has(e.caller) && !depth.has(e.callee)) depth.set(e.callee, depth.get(e.caller) + 1);
		for (const e of edges) for (const n of [e.caller, e.callee]) if (!depth.has(n)) depth.set(n, 0);
		const layers = [];
		for (const [name, d] of depth) (layers[d] = layers[d] || []).push(name);
		layers.forEach((l) => l.sort((a, b) => (lost.get(b) || 0) - (lost.get(a) || 0)).splice(24));
		const body = section("Who calls whom", "The redder, the more bits a function loses; the number is bits lost, at most.");
		const W = 250, H = 30, svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), spot = new Map();
		const add = (parent, tag, attributes, text) => {
			const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
			for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
			if (text !== undefined) e.textContent = text;
			parent.append(e);
			return e;
		};
		layers.forEach((l, d) => l.forEach((name, i) => spot.set(name, { x: d * W + 4, y: i * H + 4 })));
		const height = Math.max(...layers.map((l) => (l || []).length)) * H + 8;
		svg.setAttribute("viewBox", `0 0 ${layers.length * W} ${height}`);
		svg.setAttribute("width", layers.length * W);
		svg.setAttribute("role", "img");
		svg.setAttribute("aria-label", "callers and callees");
		for (const e of edges) {
			const a = spot.get(e.caller), b = spot.get(e.callee);
			if (!a || !b || a === b) continue;
			add(svg, "path", { d: `M${a.x + 196},${a.y + 11} C${a.x + 225},${a.y + 11} ${b.x - 28},${b.y + 11} ${b.x},${b.y + 11}`, fill: "none", stroke: style("--line"), "stroke-width": 1 + Math.min(3, Math.log10(1 + (e.calls || 1))) });
		}
		const most = Math.max(1, ...lost.values());
		for (const [name, at] of spot) {
			const bits = lost.get(name);
			const node = add(svg, "g", {});
			add(node, "title", {}, `${name}: ${calls.get(name) || 0} calls, ${bits ? short(bits) : 0} bits lost at most`);
			add(node, "rect", { x: at.x, y: at.y, width: 196, height: 22, rx: 3, fill: bits ? shade(1 - bits / most) : style("--card"), "fill-opacity": bits ? 0.55 : 1, stroke: style("--line") });
			const label = name.length > 28 ? `\u2026${name.slice(-27)}` : name;
			add(node, "text", { x: at.x + 6, y: at.y + 15, "font-size": 11, fill: style("--ink") }, bits ? `${label}  \u2212${short(bits)}` : label);
		}
		const wide = make("div", { class: "wide" });
		wide.append(svg);
		body.append(wide);
	}

	/* ---- Calls over time ---- */

	// A row for each function, a bar from where a call began to its end: callers lie over what they call.
	function spans() {
		const all = data.tables.spans || [];
		if (!all.length) return;
		const rows = new Map();
		for (const s of all) {
			const row = rows.get(s.function) || { name: s.function, first: s.first, length: 0, lost: 0 };
			row.length += s.last - s.first + 1;
			row.lost = Math.max(row.lost, s.lost || 0);
			rows.set(s.function, row);
		}
		const chosen = [...rows.values()].sort((a, b) => b.lost - a.lost || b.length - a.length).slice(0, 30).sort((a, b) => a.first - b.first || b.length - a.length);
		const number = new Map(chosen.map((row, i) => [row.name, i]));
		const shown = all.filter((s) => number.has(s.function));
		const most = chosen.reduce((a, row) => Math.max(a, row.lost), 1);
		const body = section("Calls over time", "A bar from where a call began to its end, in the order of calls; the redder, the more bits it loses."
			+ (rows.size > chosen.length ? ` ${chosen.length} of ${rows.size} functions: those that lose most.` : ""));
		const bounds = { from: shown.reduce((a, s) => Math.min(a, s.first), Infinity), to: shown.reduce((a, s) => Math.max(a, s.last + 1), 0),
			low: 0, high: chosen.length, height: 64 + 24 * chosen.length };
		const top = (p, i) => p.y(chosen.length - i);
		plot(body, bounds, { x: "order of calls", y: "", title: "calls over time", rows: true }, (p) => {
			const c = p.context;
			c.textAlign = "left";
			c.font = "11px system-ui, sans-serif";
			for (const s of shown) {
				if (s.last + 1 < p.from || s.first > p.to) continue;
				const x = p.x(s.first), i = number.get(s.function);
				c.fillStyle = s.lost > 0 ? shade(1 - s.lost / most) : style("--mark");
				c.fillRect(x, top(p, i) + 13, Math.max(1, p.x(s.last + 1) - x), 8);
			}
			c.fillStyle = style("--ink");
			chosen.forEach((row, i) => c.fillText(row.name, p.x(p.from) + 2, top(p, i) + 10));
		}, (p, px, py) => {
			const x = p.at(px), hit = shown.filter((s) => s.first <= x && x < s.last + 1 && py >= top(p, number.get(s.function)) && py < top(p, number.get(s.function)) + 24);
			const s = hit[hit.length - 1];
			return s && `${s.function}: calls ${s.first} to ${s.last}${s.lost ? `, loses ${short(s.lost)}` : ""}`;
		});
	}

	/* ---- Source ---- */

	function source() {
		const lines = data.tables.source || [];
		if (!lines.length) return;
		const body = section("Source", "Lines with the bits that they lose.");
		const most = Math.max(1, ...lines.map((l) => l.lost || 0));
		let pre = null, file = null;
		for (const l of lines) {
			if (l.file !== file) {
				file = l.file;
				pre = make("pre", { class: "source" });
				body.append(make("h3", { class: "mono" }, file), make("div", { class: "wide" }, pre));
			}
			const tint = l.lost ? `background:color-mix(in srgb, ${shade(1 - l.lost / most)} ${Math.round(10 + (30 * l.lost) / most)}%, transparent)` : "";
			pre.append(make("span", { style: tint }, make("b", {}, `${l.line}${l.lost ? `  \u2212${short(l.lost)}` : ""}`), l.text));
		}
	}

	/* ---- Tensors of a model ---- */

	const CARDS_AT_ONCE = 24;
	const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

	// Two digits of base 64 at a time, as src/runs/model/pictures.h has them; null: nothing finite.
	function levels(text, low, high) {
		const list = [];
		for (let i = 0; i + 1 < text.length; i += 2) {
			const level = DIGITS.indexOf(text[i]) * 64 + DIGITS.indexOf(text[i + 1]);
			list.push(level > 4094 ? null : low + ((high - low) * level) / 4094);
		}
		return list;
	}

	// Sized for the screen and empty; its height is given in pixels of the page.
	function sheet(canvas, height) {
		const width = canvas.clientWidth || 300, ratio = window.devicePixelRatio || 1;
		canvas.style.height = `${height}px`;
		canvas.width = width * ratio; canvas.height = height * ratio;
		const c = canvas.getContext("2d");
		c.scale(ratio, ratio);
		return { c, width, height };
	}

	// A bin with a single element among a million still has a pixel.
	function drawBins(canvas, row, bins) {
		const { c, width, height } = sheet(canvas, 84), base = height - 16, top = Math.max(...bins);
		const x = (value) => ((value - row.min) / (row.max - row.min)) * width;
		c.fillStyle = style("--mark");
		bins.forEach((n, i) => {
			const tall = n ? Math.max(1.5, (n / top) * (base - 4)) : 0, from = (i * width) / bins.length;
			c.fillRect(from, base - tall, Math.max(1, width / bins.length - 0.5), tall);
		});
		c.strokeStyle = style("--line");
		c.beginPath(); c.moveTo(0, base + 0.5); c.lineTo(width, base + 0.5);
		if (row.min < 0 && row.max > 0) { c.moveTo(x(0), 0); c.lineTo(x(0), base + 4); }
		c.stroke();
		c.fillStyle = style("--soft");
		c.font = "11px system-ui, sans-serif";
		c.fillText(short(row.min), 0, height - 3);
		c.textAlign = "right"; c.fillText(short(row.max), width, height - 3);
		if (row.min < 0 && row.max > 0 && x(0) > 60 && x(0) < width - 60) { c.textAlign = "center"; c.fillText("0", x(0), height - 3); }
	}

	// Blue below the mean, red above; the square root keeps the rest visible beside an outlier.
	function warmth(value, row) {
		const far = Math.max(row.max - row.mean, row.mean - row.min) || 1;
		const share = Math.sqrt(Math.min(1, Math.abs(value - row.mean) / far));
		return `color-mix(in oklab, ${value < row.mean ? "#1864ab" : "#c92a2a"} ${(100 * share).toFixed(1)}%, ${style("--paper")})`;
	}

	const cellBegin = (number, cells, extent) => Math.ceil((number * extent) / cells);
	const between = (number, cells, extent, word) => {
		const from = cellBegin(number, cells, extent), to = cellBegin(number + 1, cells, extent) - 1;
		return from === to ? `${word} ${from}` : `${word}s ${from} to ${to}`;
	};

	function drawMap(canvas, row, map) {
		const wide = (canvas.clientWidth || 300) / row.across, cell = { wide, tall: Math.min(wide, 14, Math.max(3, 160 / row.down)) };
		const { c } = sheet(canvas, Math.max(14, cell.tall * row.down));
		cell.tall = Math.max(cell.tall, 14 / row.down);
		for (let n = 0; n < row.down * row.across; n++) {
			const low = map.cells[2 * n], high = map.cells[2 * n + 1];
			const value = low === null ? null : row.mean - low > high - row.mean ? low : high;
			c.fillStyle = map.odd.has(n) ? style("--warning") : value === null ? style("--line") : warmth(value, row);
			c.fillRect((n % row.across) * cell.wide, Math.floor(n / row.across) * cell.tall, cell.wide + 0.3, cell.tall + 0.3);
		}
		return cell;
	}

	function card(row, about) {
		const bins = row.bins.split(",").map(Number);
		const map = { cells: levels(row.cells, row.min, row.max), odd: new Set(row.odd ? row.odd.split(",").map(Number) : []) };
		const histogram = make("canvas", { role: "img", "aria-label": `histogram of ${row.tensor}` });
		const heat = make("canvas", { role: "img", "aria-label": `map of ${row.tensor}` });
		const tip = make("div", { class: "tip" }, "\u00a0");
		const box = make("figure", { class: "tensor" }, make("figcaption", {}, make("b", { class: "mono" }, row.tensor), ` ${about}`), histogram, heat, tip);
		let cell = null;
		histogram.addEventListener("pointermove", (e) => {
			const i = Math.min(bins.length - 1, Math.floor((e.offsetX / histogram.clientWidth) * bins.length)), wide = (row.max - row.min) / bins.length;
			tip.textContent = `${bins[i]} elements from ${short(row.min + i * wide)} to ${short(row.min + (i + 1) * wide)}`;
		});
		heat.addEventListener("pointermove", (e) => {
			const i = Math.floor(e.offsetY / cell.tall), j = Math.floor(e.offsetX / cell.wide), n = i * row.across + j;
			if (i >= row.down || j >= row.across) return;
			const low = map.cells[2 * n], high = map.cells[2 * n + 1];
			tip.textContent = `${between(i, row.down, row.rows, "row")}, ${between(j, row.across, row.columns, "column")}: `
				+ (low === null ? "nothing finite" : low === high ? short(low) : `${short(low)} to ${short(high)}`) + (map.odd.has(n) && low !== null ? ", and NaN or infinity" : "");
		});
		new ResizeObserver(() => { drawBins(histogram, row, bins); cell = drawMap(heat, row, map); }).observe(box);
		return box;
	}

	function tensors() {
		const all = data.tables.pictures || [];
		if (!all.length) return;
		const about = new Map((data.tables.tensors || []).map((t) => [t.name, `${t.dtype} ${t.shape}`]));
		const body = section("Elements of the tensors", "Above, how the elements are spread between the lowest and the highest. Below, rows (the first dimension) and columns (all others): "
			+ "each cell has the colour of its element that is farthest from the mean, blue below it and red above; amber: NaN or infinity.");
		const box = make("div", { class: "tensors" });
		const count = make("span", {});
		const more = make("button", { type: "button", onclick: () => show(CARDS_AT_ONCE) }, "show more");
		const filter = make("input", { type: "search", placeholder: "part of a name", "aria-label": "show only", oninput: () => { box.replaceChildren(); show(CARDS_AT_ONCE); } });
		function show(some) {
			const fitting = all.filter((row) => row.tensor.includes(filter.value)), from = box.childElementCount;
			box.append(...fitting.slice(from, from + some).map((row) => card(row, about.get(row.tensor) || "")));
			count.textContent = `${box.childElementCount} of ${fitting.length}`;
			more.hidden = box.childElementCount >= fitting.length;
		}
		if (all.length > 6) body.append(make("div", { class: "controls" }, make("label", {}, "show only ", filter), count));
		body.append(box, more);
		show(CARDS_AT_ONCE);
	}

	const timeline = () => lanes({ data, section, plot, style });

	for (const picture of [timeline, curves, points, spans, elements, graph, source, tensors]) picture();
})();
