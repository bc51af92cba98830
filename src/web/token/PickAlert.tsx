/** An alert on the token of the page, made by picking a level. */
import { useState } from "preact/hooks"
import { call } from "../data/request.ts"
import { type Action, useAction } from "../data/useAction.ts"
import { Choice } from "../parts/Choice.tsx"
import { type Alert, conditionWords } from "../parts/conditions.ts"
import { Dialog } from "../parts/Dialog.tsx"
import { compareDecimals, shiftedBy, written } from "../parts/numbers.ts"
import { Failed } from "../parts/States.tsx"
import { TypedField } from "./TypedField.tsx"

type Metric = "price_usd" | "market_cap_usd"

const metrics: ReadonlyArray<readonly [Metric, string]> = [
  ["price_usd", "Price"],
  ["market_cap_usd", "Market cap"]
]
const recurrences = [
  ["once", "Once"],
  ["repeat", "Each time"]
] as const
const steps = [-25, -10, -5, 5, 10, 25] as const

const DECIMAL = /^(?:0|[1-9]\d*)(?:\.\d+)?$/u

/** What is wrong with a typed level; null for nothing. */
const faultOf = (level: string): string | null =>
  !DECIMAL.test(level) || /^[0.]*$/u.test(level) ? "Enter a number above zero, with a point before decimals." : null

/** Decimal text without zeros at its end, as the service takes it. */
const tidied = (level: string): string => (level.includes(".") ? level.replace(/\.?0+$/u, "") : level)

const Existing = ({
  action,
  alerts,
  onDone
}: {
  readonly alerts: ReadonlyArray<Alert>
  readonly action: Action
  readonly onDone: () => void
}) => (
  <ul class="plain-list" aria-label="Alerts of this token">
    {alerts.map(({ condition, id }) => (
      <li key={id} class="row spread">
        {conditionWords(condition)}
        <button
          type="button"
          class="danger"
          disabled={action.isBusy}
          aria-label={`Remove: ${conditionWords(condition)}`}
          onClick={() => action.run(() => call("DELETE /api/v1/alerts/:id", { path: { id } }), onDone)}
        >
          Remove
        </button>
      </li>
    ))}
  </ul>
)

/** Dialog that sets an alert by picking a distance from the current value. Whether it rises or falls follows from it. */
export const PickAlert = ({
  alerts,
  marketCapUsd,
  mint,
  onClose,
  onDone,
  priceUsd,
  symbol
}: {
  readonly mint: string
  readonly symbol: string
  readonly priceUsd: string | null
  readonly marketCapUsd: string | null
  /** Alerts of the token that can still fire. */
  readonly alerts: ReadonlyArray<Alert>
  readonly onClose: () => void
  /** Called after an alert was set or removed. */
  readonly onDone: () => void
}) => {
  const action = useAction()
  const [metric, setMetric] = useState<Metric>("price_usd")
  const [recurrence, setRecurrence] = useState<"once" | "repeat">("once")
  const now = metric === "price_usd" ? priceUsd : marketCapUsd
  const [level, setLevel] = useState("")
  const [isTried, setTried] = useState(false)
  const fault = faultOf(level)
  const isAbove = fault === null && (now === null || compareDecimals(level, now) >= 0)
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    setTried(true)
    if (fault === null) {
      const operator = isAbove ? ("crosses_above" as const) : ("crosses_below" as const)
      const body = { mint, condition: { metric, operator, threshold: tidied(level) }, recurrence }
      action.run(() => call("POST /api/v1/alerts", { body }), onDone)
    }
  }
  return (
    <Dialog
      title={
        <>
          Alert on <bdi>{symbol}</bdi>
        </>
      }
      onClose={onClose}
    >
      <form class="stack" onSubmit={submit} noValidate>
        <Choice
          label="What the alert watches"
          options={metrics}
          value={metric}
          onChange={(next) => {
            setMetric(next)
            setLevel("")
          }}
        />
        <p>Now {now === null ? "unknown" : written(now, "usd")}</p>
        {now !== null && (
          <div class="choice" role="group" aria-label="Distance from the current value">
            {steps.map((step) => (
              <button
                key={step}
                type="button"
                aria-pressed={level === shiftedBy(now, step)}
                onClick={() => setLevel(shiftedBy(now, step))}
              >
                {step > 0 ? `+${step}` : step} %
              </button>
            ))}
          </div>
        )}
        <TypedField label="Level in dollars" value={level} onInput={setLevel} fault={isTried ? fault : null} />
        <Choice label="How often it fires" options={recurrences} value={recurrence} onChange={setRecurrence} />
        {fault === null && (
          <p role="status">
            Fires when the {metric === "price_usd" ? "price" : "market cap"} {isAbove ? "rises above" : "falls below"}{" "}
            {written(level, "usd")}.
          </p>
        )}
        {action.failure !== null && <Failed failure={action.failure} />}
        <div class="row spread">
          <button type="submit" class="main" disabled={action.isBusy}>
            Set the alert
          </button>
          <a href={`/alerts?mint=${mint}`}>Other kinds of alerts</a>
        </div>
      </form>
      {alerts.length > 0 && <Existing alerts={alerts} action={action} onDone={onDone} />}
    </Dialog>
  )
}
