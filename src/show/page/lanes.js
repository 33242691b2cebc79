// SPDX-License-Identifier: Apache-2.0
// Draws what threads, their system calls and queues did, over time, from the tables `lanes` and `bars`: a strip for each
// track, in it a lane for each depth of nested calls. It knows what lies where; page.js gives it a plane that zooms.
"use strict";
function lanes({ data, section, plot, style }) {
	const HEAD = 17, LANE = 14, GAP = 7;
	const all = data.tables.lanes || [], bars = data.tables.bars || [];
	if (!all.length) return;

	// Lanes of a track follow one another.
	const strips = [], places = [];
	let height = 0;
	for (const lane of all) {
		const last = strips[strips.length - 1];
		if (last && last.track === lane.track && last.type === lane.type && lane.depth > 0) last.lanes++;
		else strips.push({ track: lane.track, type: lane.type, lanes: 1, bars: [] });
		places.push({ strip: strips[strips.length - 1], depth: strips[strips.length - 1].lanes - 1 });
	}
	for (const strip of strips) {
		strip.top = height;
		height += HEAD + strip.lanes * LANE + GAP;
	}
	for (const bar of bars) places[bar.lane].strip.bars.push({ ...bar, from: bar.from_ns / 1e9, to: bar.to_ns / 1e9, depth: places[bar.lane].depth });

	// The same name has the same colour in every lane and page.
	const colours = new Map();
	function colour(name) {
		if (!colours.has(name)) {
			let hash = 7;
			for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
			colours.set(name, `hsl(${hash % 360} 48% 42%)`);
		}
		return colours.get(name);
	}

	const length = (ns) => (ns >= 1e9 ? `${+(ns / 1e9).toFixed(3)} s` : ns >= 1e6 ? `${+(ns / 1e6).toFixed(2)} ms` : ns >= 1e3 ? `${+(ns / 1e3).toFixed(1)} \u00b5s` : `${ns} ns`);
	const share = (bar) => Math.min(1, bar.busy_ns / Math.max(1, bar.to_ns - bar.from_ns));
	function describe(bar) {
		const at = `at ${bar.from.toFixed(6)} s`;
		if (bar.count === 1) return `${bar.name}  ${length(bar.to_ns - bar.from_ns)} ${at}`;
		return `${bar.count} within ${length(bar.to_ns - bar.from_ns)} ${at}, ${length(bar.busy_ns)} in all; the longest: ${bar.name}`;
	}

	// As much of a name as fits into so many pixels; of a few letters nothing can be read.
	function fit(context, name, pixels) {
		if (pixels < 24 || context.measureText(name).width <= pixels) return pixels < 24 ? "" : name;
		let count = Math.floor(name.length * pixels / context.measureText(name).width);
		while (count > 0 && context.measureText(`${name.slice(0, count)}\u2026`).width > pixels) count--;
		return count > 2 ? `${name.slice(0, count)}\u2026` : "";
	}

	const y = (p, offset) => p.y(height - offset);
	function drawBar(p, strip, bar) {
		const c = p.context, left = Math.max(p.x(bar.from), p.x(p.from)), right = Math.min(p.x(bar.to), p.x(p.to));
		const top = y(p, strip.top + HEAD + bar.depth * LANE), wide = Math.max(1, right - left);
		c.globalAlpha = 0.3 + 0.7 * share(bar);
		c.fillStyle = colour(bar.name);
		c.fillRect(left, top, wide > 3 ? wide - 0.5 : wide, LANE - 2);
		c.globalAlpha = 1;
		const text = bar.count === 1 ? fit(c, bar.name, wide - 6) : "";
		c.fillStyle = "#ffffff";
		if (text) c.fillText(text, left + 3, top + LANE - 4.5);
	}
	function drawStrip(p, strip) {
		const c = p.context, top = y(p, strip.top + HEAD);
		c.fillStyle = style("--card");
		c.fillRect(p.x(p.from), top, p.pixels, strip.lanes * LANE - 2);
		c.font = "10.5px system-ui, sans-serif";
		c.textAlign = "left";
		for (const bar of strip.bars) if (bar.to >= p.from && bar.from <= p.to) drawBar(p, strip, bar);
		c.font = "12px system-ui, sans-serif";
		c.fillStyle = style("--ink");
		c.fillText(strip.track, p.x(p.from), top - 4);
	}

	const bounds = { from: Infinity, to: -Infinity, low: 0, high: height, height: height + 58 };
	for (const strip of strips) for (const bar of strip.bars) {
		bounds.from = Math.min(bounds.from, bar.from);
		bounds.to = Math.max(bounds.to, bar.to);
	}
	const isMerged = bars.some((bar) => bar.count > 1);
	const body = section("Timeline", "Bars are calls and spans of threads, system calls, and operations of queues; what a call does stands below it."
		+ (isMerged ? " Neighbours that are too near together for this picture are one bar, the paler the less of it was busy: export with --from and --until to see them." : ""));
	plot(body, bounds, { x: "time (s)", y: "", title: "timeline", rows: true }, (p) => { for (const strip of strips) drawStrip(p, strip); }, (p, px, py) => {
		const at = p.at(px), slack = p.at(px + 2) - at;
		for (const strip of strips) {
			const depth = Math.floor((py - y(p, strip.top + HEAD)) / LANE);
			if (depth < 0 || depth >= strip.lanes) continue;
			const hit = strip.bars.filter((bar) => bar.depth === depth && bar.from - slack <= at && at <= bar.to + slack);
			hit.sort((a, b) => Math.abs(at - (a.from + a.to) / 2) - Math.abs(at - (b.from + b.to) / 2));
			return hit.length ? `${strip.track}: ${describe(hit[0])}` : "";
		}
		return "";
	});
}
