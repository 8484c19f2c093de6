// A name for this device that its owner recognises in a list.

/** The first that an agent's name holds; browsers name others, too, to be taken for them. */
const DEVICES = [["iPhone", "iPhone"], ["iPad", "iPad"], ["Android", "Android"], ["CrOS", "Chromebook"], ["Macintosh", "Mac"], ["Windows", "Windows"], ["Linux", "Linux"]] as const;
const BROWSERS = [["Edg", "Edge"], ["OPR", "Opera"], ["SamsungBrowser", "Samsung Internet"], ["Firefox", "Firefox"], ["FxiOS", "Firefox"], ["CriOS", "Chrome"], ["Chrome", "Chrome"], ["Safari", "Safari"]] as const;

export function deviceName(agent = navigator.userAgent): string {
  const named = (names: readonly (readonly [string, string])[]) => names.find(([mark]) => agent.includes(mark))?.[1];
  return `${named(BROWSERS) ?? "Browser"} on ${named(DEVICES) ?? "a device"}`;
}
