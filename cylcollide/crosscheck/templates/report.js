"use strict";
(() => {
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
      margin: layout.scene ? { l: 0, r: 0, t: 0, b: 0 } : { l: 8, r: 8, t: 32, b: 8 },
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", bgcolor: "rgba(0,0,0,0)", itemsizing: "constant" },
      hoverlabel: { bgcolor: css("--card"), bordercolor: css("--line"), font: { color: css("--ink") } },
    };
    for (const name of layout.scene ? [] : ["xaxis", "yaxis"]) {
      merged[name] = { ...axis, ...layout[name], title: { ...axis.title, ...layout[name]?.title } };
    }
    delete merged.template;
    return merged;
  };

  const plots = [...document.querySelectorAll("[data-figure]")].map((node) => ({ node, figure: read(node.dataset.figure) }));
  const drawPlots = () => {
    for (const { node, figure } of plots) {
      const parts = copy(figure);
      Plotly.react(node, parts.data.map(inked), themed(parts.layout), config);
    }
  };

  const stage = document.getElementById("scene");
  const state = { ray: 0, view: "body" };
  const scene = stage ? read("scene-data") : null;
  const millimetres = (metres) => (metres >= 1 ? `${metres.toFixed(1)} m` : `${(1000 * metres).toPrecision(2)} mm`);
  const drawScene = () => {
    if (!scene) return;
    const ray = scene.rays[state.ray], view = ray.views[state.view];
    const body = scene.poses[ray.pose].filter((_, number) => !view.hidden.includes(number));
    const traces = copy([...body, ...view.data]).map(inked);
    const layout = themed({ scene: copy(view.scene), showlegend: false, uirevision: `${state.ray} ${state.view}` });
    Plotly.react(stage, traces, layout, config);
    for (const button of document.querySelectorAll("[data-ray]")) button.setAttribute("aria-pressed", +button.dataset.ray === state.ray);
    for (const button of document.querySelectorAll("[data-view]")) button.setAttribute("aria-pressed", button.dataset.view === state.view);
    for (const said of document.querySelectorAll("[data-said]")) {
      said.hidden = +said.dataset.said !== state.ray;
      said.querySelector(".width").textContent = `The window is ${millimetres(view.width)} wide.`;
    }
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-ray], [data-view]");
    if (!button) return;
    if (button.dataset.ray) state.ray = +button.dataset.ray;
    else state.view = button.dataset.view;
    history.replaceState(null, "", `#bullet-${state.ray + 1}-${state.view}`);
    drawScene();
  });

  // A link such as #bullet-3-close opens that bullet.
  const followLink = () => {
    const [, rank, view] = location.hash.match(/^#bullet-(\d+)-(body|close)$/) ?? [];
    if (!scene || !(rank >= 1 && rank <= scene.rays.length)) return false;
    Object.assign(state, { ray: rank - 1, view });
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
