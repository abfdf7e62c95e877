"use strict";
(async () => {
  // The table of contents: a link to each section.
  document.querySelector("nav").append(...[...document.querySelectorAll("main > section")].map((section) => {
    const link = document.createElement("a");
    link.href = `#${section.id}`;
    link.textContent = section.querySelector("h2").textContent;
    return link;
  }));

  // Unfold the cause that a link leads to, and all causes for printing.
  const unfold = () => { if (/^#cause-\d+$/.test(location.hash)) document.querySelector(location.hash)?.setAttribute("open", ""); };
  addEventListener("hashchange", unfold);
  unfold();

  // Plotly is compressed, which halves the page.
  const packed = Uint8Array.from(atob(document.getElementById("plotly").textContent), (c) => c.charCodeAt(0));
  const script = document.createElement("script");
  script.textContent = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  document.head.append(script);

  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const config = { responsive: true, displayModeBar: false };
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const copy = (thing) => JSON.parse(JSON.stringify(thing));

  // Traces marked "ink" or "path" take the colour of the text, so that they show on light and on dark.
  const inked = (trace) => {
    if (trace.meta !== "ink" && trace.meta !== "path") return trace;
    const color = css(trace.meta === "path" ? "--path" : "--ink");
    const painted = { ...trace };
    if (trace.type === "cone") painted.colorscale = [[0, color], [1, color]];
    else painted.line = { ...trace.line, color };
    if (trace.marker) painted.marker = { ...trace.marker, color };
    if (trace.type === "scatter3d" && trace.meta === "ink") painted.opacity = 0.35;
    return painted;
  };

  const themed = (layout) => {
    const axis = {
      gridcolor: css("--line"), linecolor: css("--line"), zerolinecolor: css("--line"), automargin: true,
      title: { font: { size: 13, color: css("--soft") }, standoff: 8 },
    };
    const merged = {
      ...layout, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", dragmode: layout.scene ? "orbit" : false,
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: css("--ink") },
      margin: layout.scene ? { l: 0, r: 0, t: 0, b: 0 } : { l: 8, r: 8, t: layout.showlegend === false ? 8 : 32, b: 8 },
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", bgcolor: "rgba(0,0,0,0)", itemsizing: "constant", ...layout.legend },
      hoverlabel: { bgcolor: css("--card"), bordercolor: css("--line"), font: { color: css("--ink") } },
    };
    for (const name of layout.scene ? [] : ["xaxis", "yaxis"]) {
      merged[name] = { ...axis, ...layout[name], title: { ...axis.title, ...layout[name]?.title } };
    }
    return merged;
  };

  // A plot is drawn when it comes near the window, so that a page with thirty plots opens at once.
  const shown = new Set();
  const drawPlot = (node) => {
    const parts = read(node.dataset.figure);
    Plotly.react(node, parts.data.map(inked), themed(parts.layout), config);
  };
  const near = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting || shown.has(target)) continue;
      near.unobserve(target);
      shown.add(target);
      drawPlot(target);
    }
  }, { rootMargin: "800px 0px" });
  const plots = document.querySelectorAll("[data-figure]");
  plots.forEach((node) => near.observe(node));
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((one) => { one.open = true; });
    plots.forEach(drawPlot);
  });
  const drawPlots = () => shown.forEach(drawPlot);

  const stage = document.getElementById("scene"), closeUp = document.getElementById("section");
  const scene = stage ? read("scene-data") : null;
  let chosen = 0;
  const drawScene = () => {
    if (!scene) return;
    const ray = scene[chosen], cut = copy(ray.section);
    const traces = copy([...ray.limbs, ...ray.answers]).map(inked);
    Plotly.react(stage, traces, themed({ scene: copy(ray.layout), showlegend: false, uirevision: chosen }), config);
    Plotly.react(closeUp, cut.data.map(inked), themed(cut.layout), config);
    for (const button of document.querySelectorAll("[data-ray]")) button.setAttribute("aria-pressed", +button.dataset.ray === chosen);
    for (const text of document.querySelectorAll("[data-sentence]")) text.hidden = +text.dataset.sentence !== chosen;
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-ray]");
    if (!button) return;
    chosen = +button.dataset.ray;
    history.replaceState(null, "", `#bullet-${chosen + 1}`);
    drawScene();
  });

  // A link such as #bullet-3 opens that bullet.
  const followLink = () => {
    const rank = +(location.hash.match(/^#bullet-(\d+)$/) ?? [0, 0])[1];
    if (!scene || !(rank >= 1 && rank <= scene.length)) return false;
    chosen = rank - 1;
    return true;
  };
  addEventListener("hashchange", () => {
    if (!followLink()) return;
    drawScene();
    document.getElementById("worst").scrollIntoView();
  });
  const draw = () => { drawPlots(); drawScene(); };
  dark.addEventListener("change", draw);
  followLink();
  draw();
})();
