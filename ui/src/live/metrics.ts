// The daemon's figures over the last minutes, read from what it shows to Prometheus.

/** Figures that the status tells in words beside them. */
const TOLD = new Set(["roost_connected_clients", "roost_pending_requests", "roost_active_tasks"]);

/** What people call the figures. */
const LABELS: Record<string, string> = {
  roost_active_sessions: "Open sessions",
  roost_task_queue_depth: "Prompts that wait their turn",
  roost_tasks_started_total: "Tasks started",
  roost_tasks_finished_total: "Tasks finished",
  roost_tool_executions_total: "Tool calls",
  roost_backpressure_drops_total: "Refused or left out under load",
};

/** Values that are kept of each figure. */
const KEPT = 90;

/** A figure as it is drawn. */
export type Figure = Pick<Series, "name" | "label" | "values" | "shown">;

export class Series {
  values: number[] = [];
  shown = "";
  #last: number | undefined;

  constructor(
    readonly name: string,
    readonly label: string,
  ) {}

  /** A gauge is shown as it is; of a counter, what was added since the last look. */
  add(value: number, isCounter: boolean): void {
    const point = isCounter ? Math.max(0, value - (this.#last ?? value)) : value;
    this.#last = value;
    this.values = [...this.values.slice(1 - KEPT), point];
    this.shown = Number.isInteger(value) ? value.toLocaleString() : value.toFixed(2);
  }
}

/** Reads the figures without labels, sums those with labels, and adds them to their history. */
export function parseMetrics(text: string, history: Map<string, Series>): Figure[] {
  const kinds = new Map<string, string>();
  const sums = new Map<string, number>();
  for (const line of text.split("\n")) {
    const kind = /^# TYPE (\S+) (\S+)/.exec(line);
    if (kind?.[1] && kind[2]) kinds.set(kind[1], kind[2]);
    const sample = /^([a-zA-Z_:][\w:]*)(?:\{[^}]*\})? (\S+)/.exec(line);
    if (sample?.[1]) sums.set(sample[1], (sums.get(sample[1]) ?? 0) + Number(sample[2]));
  }
  for (const [name, value] of sums) {
    const kind = kinds.get(name);
    if ((kind !== "gauge" && kind !== "counter") || !Number.isFinite(value) || TOLD.has(name)) continue;
    const label = LABELS[name] ?? sentence(name.replace(/^(roost|cdev)_/, "").replace(/_total$/, "").replaceAll("_", " "));
    const series = history.get(name) ?? new Series(name, label);
    series.add(value, kind === "counter");
    history.set(name, series);
  }
  // New objects each time: whoever draws them sees that they changed.
  const all = [...history.values()].map(({ name, label, values, shown }) => ({ name, label, values, shown }));
  return all.sort((one, other) => one.label.localeCompare(other.label)).slice(0, 12);
}

const sentence = (words: string) => words.charAt(0).toUpperCase() + words.slice(1);
