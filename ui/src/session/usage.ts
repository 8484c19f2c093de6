// What a session has used, up to any moment.

import type { Usage } from "./items.svelte";

/** What was used up to a time. */
export function usageUntil(whole: Usage, time: string): Usage {
  const points = whole.points.filter((point) => point.time <= Date.parse(time));
  const sum = (of: (point: Usage["points"][number]) => number) => points.reduce((total, point) => total + of(point), 0);
  return {
    input: sum((point) => point.input), output: sum((point) => point.tokens - point.input), cached: sum((point) => point.cached),
    cost: whole.cost === undefined ? undefined : sum((point) => point.cost), context: points.findLast((point) => point.context)?.context, points,
  };
}
