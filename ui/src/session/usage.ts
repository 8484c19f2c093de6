// What a session has used, up to any moment.

import type { NormalizedEvent, SessionUsage } from "roost-client";
import type { Usage } from "./items.svelte";

export const NO_USAGE: Usage = { input: 0, output: 0, cached: 0, points: [] };

/** The sum of what these events report. */
export function usageOf(events: readonly NormalizedEvent[], before: Usage = NO_USAGE): Usage {
  const usage = { ...before, points: [...before.points] };
  for (const event of events) {
    if (event.type !== "usage.reported") continue;
    const { input_tokens = 0, output_tokens = 0, cached_input_tokens = 0, cost_usd, context } = event.payload;
    usage.input += input_tokens;
    usage.output += output_tokens;
    usage.cached += cached_input_tokens;
    if (cost_usd !== undefined) usage.cost = (usage.cost ?? 0) + cost_usd;
    usage.context = context ?? usage.context;
    usage.points.push({
      time: Date.parse(event.time), tokens: input_tokens + output_tokens, input: input_tokens, cached: cached_input_tokens, cost: cost_usd ?? 0, context,
    });
  }
  return usage;
}

/** The totals are those of the record where not every report is here. */
export function withTotals(usage: Usage, record: SessionUsage | undefined): Usage {
  const { input_tokens = 0, output_tokens = 0, cost_usd } = record ?? {};
  const cost = usage.cost === undefined && !cost_usd ? undefined : Math.max(usage.cost ?? 0, cost_usd ?? 0);
  return { ...usage, input: Math.max(usage.input, input_tokens), output: Math.max(usage.output, output_tokens), cost };
}

/** What was used up to a time: all of it without what was reported later. Nothing is known of before the first report here. */
export function usageUntil(whole: Usage, time: string): Usage {
  const at = Date.parse(time);
  const points = whole.points.filter((point) => point.time <= at);
  const later = whole.points.filter((point) => point.time > at);
  const sum = (of: (point: Usage["points"][number]) => number) => later.reduce((total, point) => total + of(point), 0);
  return {
    input: whole.input - sum((point) => point.input), output: whole.output - sum((point) => point.tokens - point.input),
    cached: whole.cached - sum((point) => point.cached), cost: whole.cost === undefined ? undefined : Math.max(0, whole.cost - sum((point) => point.cost)),
    context: points.findLast((point) => point.context)?.context, points,
  };
}
