/** Series for `promtool test rules` from scrapes of a service, and the rules that fire on them. */

/** One scrape: values by series as they are written in the text format; null when the service did not answer. */
export type Scrape = ReadonlyMap<string, number> | null

/** Seconds between two scrapes, and between two samples of a test. */
export const INTERVAL_SECONDS = 5

const LINE = /^(?<series>[a-z_]\w*(?:\{.*\})?) (?<value>\S+)(?: \d+)?$/iu

/** The samples of a scrape whose metric is one of these names. */
export const parseScrape = (text: string, names: ReadonlySet<string>): Scrape =>
  new Map(
    text.split("\n").flatMap((line) => {
      const { series = "", value = "" } = LINE.exec(line)?.groups ?? {}
      return names.has(series.replace(/\{.*$/u, "")) ? [[series, Number(value)] as const] : []
    })
  )

/** Names of the metrics that rules read. */
export const metricsOf = (rules: string): ReadonlySet<string> =>
  new Set(Array.from(rules.matchAll(/\b(?:fathom|process|nodejs)_[a-z_]+/gu), ([name]) => name))

/** Names of the rules. */
export const rulesOf = (rules: string): ReadonlyArray<string> =>
  Array.from(rules.matchAll(/alert: (\w+)/gu), ([, name = ""]) => name)

const isCounter = (series: string): boolean => /_(?:bucket|count|sum|total)(?:\{|$)/u.test(series)

/** Labels that a scrape adds. */
const TARGET = 'job="fathom",instance="fathom:9464"'

const withTarget = (series: string): string =>
  series.endsWith("}") ? `${series.slice(0, -1)},${TARGET}}` : `${series}{${TARGET}}`

/** A sample in the notation of promtool; a missing one is `_`. */
const shown = (value: number | undefined): string => {
  if (value === undefined) {
    return "_"
  }
  if (Number.isNaN(value)) {
    return "NaN"
  }
  return String(value)
}

/** The samples of a series, and the last one so many times more: a counter goes on as it grew last, a gauge stays. */
const valuesOf = (series: string, scrapes: ReadonlyArray<Scrape>, held: number): string => {
  const values = scrapes.map((scrape) => scrape?.get(series))
  const last = values.at(-1)
  if (last === undefined) {
    return values.map(shown).join(" ")
  }
  // A counter that the scrape before does not have began at 0; without that scrape its growth is unknown.
  const before = scrapes.at(-2) ? (values.at(-2) ?? 0) : last
  const growth = isCounter(series) ? Math.max(0, last - before) : 0
  return [...values.map(shown), ...(held > 0 ? [`${last + growth}+${growth}x${held - 1}`] : [])].join(" ")
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** The query whose result is a sample for each rule that fires. */
const FIRING = 'count by (alertname) (ALERTS{alertstate="firing"}) > bool 0'

/**
 * A test of promtool with the scrapes as they came, after which the state of the last one goes on for so many seconds. It expects
 * no rule to fire at the end: promtool lists those that do. `up` is 1 for each scrape that was answered.
 */
export const testOf = (ruleFile: string, scrapes: ReadonlyArray<Scrape>, heldSeconds: number): string => {
  const held = Math.ceil(heldSeconds / INTERVAL_SECONDS)
  const names = new Set(scrapes.flatMap((scrape) => Array.from(scrape?.keys() ?? [])))
  const up = scrapes.map((scrape) => new Map([["up", scrape === null ? 0 : 1]]))
  const list = [
    ...Array.from(names, (series) => ({ series, values: valuesOf(series, scrapes, held) })),
    { series: "up", values: valuesOf("up", up, held) }
  ]
  const series = list.map(
    ({ series: name, values }) => `      - series: ${quoted(withTarget(name))}\n        values: ${quoted(values)}\n`
  )
  return [
    `rule_files: [${quoted(ruleFile)}]\n`,
    `evaluation_interval: ${INTERVAL_SECONDS}s\n`,
    `tests:\n  - interval: ${INTERVAL_SECONDS}s\n    input_series:\n${series.join("")}`,
    `    promql_expr_test:\n      - expr: ${quoted(FIRING)}\n`,
    `        eval_time: ${(scrapes.length - 1 + held) * INTERVAL_SECONDS}s\n        exp_samples: []\n`
  ].join("")
}

/** Output and exit code of promtool. */
export interface PromtoolResult {
  readonly status: number | null
  readonly output: string
}

/** The rules that fire, by the result of a test; throws when promtool could not read it. */
export const firedIn = ({ output, status }: PromtoolResult): ReadonlyArray<string> => {
  const [, got] = /got:([\s\S]*)/u.exec(output) ?? []
  if (status !== 0 && got === undefined) {
    throw new Error(`promtool: ${output}`)
  }
  return Array.from((got ?? "").matchAll(/alertname="(\w+)"/gu), ([, name = ""]) => name).toSorted()
}
