import { useState } from "preact/hooks"
import type { BodyOf } from "../data/contract.ts"
import { call } from "../data/request.ts"
import { useAction } from "../data/useAction.ts"
import { Dialog } from "../parts/Dialog.tsx"
import { Field, SelectField } from "../parts/Field.tsx"
import { Form, textsOf } from "../parts/Form.tsx"
import { Terms, termFields, termsOf } from "./terms.tsx"
import { hasSource, hasWindow, isOfWallet, metrics, operatorsOf, sides, windowsOf } from "../parts/conditions.ts"

type Body = BodyOf<"POST /api/v1/alerts">
type Condition = Body["condition"]

const sources = [
  ["swap", "Every swap"],
  ["median", "Median over pools"]
] as const

const fields = [
  ...termFields,
  "mint",
  "wallet",
  "side",
  "condition.metric",
  "condition.operator",
  "condition.windowSeconds",
  "condition.source",
  "fireNow"
]

const chosen = <Value extends string>(
  options: ReadonlyArray<readonly [Value, string]>,
  text: string
): Value | undefined => options.find(([key]) => key === text)?.[0]

const seconds = [300, 600, 3600, 21_600, 86_400] as const

const bodyOf = (metric: Condition["metric"], text: (name: string) => string): Body => ({
  mint: text("mint") === "" ? null : text("mint"),
  ...(isOfWallet(metric) && { wallet: text("wallet"), side: chosen(sides, text("side")) ?? "either" }),
  condition: {
    metric,
    operator: chosen(operatorsOf(metric), text("operator")) ?? "crosses_above",
    threshold: text("threshold"),
    ...(hasWindow(metric) && {
      windowSeconds: seconds.find((each) => String(each) === text("windowSeconds")) ?? 86_400
    }),
    ...(hasSource(metric) && { source: chosen(sources, text("source")) ?? "swap" })
  },
  ...termsOf(text),
  fireNow: !isOfWallet(metric) && text("fireNow") === "on"
})

/** Dialog that creates an alert. The field of the token starts with `mint`. */
export const NewAlert = ({
  mint,
  onClose,
  onDone
}: {
  readonly mint: string
  readonly onClose: () => void
  readonly onDone: () => void
}) => {
  const action = useAction()
  const { failure } = action
  const [metric, setMetric] = useState<Condition["metric"]>("price_usd")
  const submit = (event: Event) => {
    const body = bodyOf(metric, textsOf(event))
    action.run(() => call("POST /api/v1/alerts", { body }), onDone)
  }
  return (
    <Dialog title="New alert" onClose={onClose}>
      <Form layout="grid" action={action} fields={fields} submit="Set the alert" onSubmit={submit}>
        <div class="wide">
          <Field
            label="Token"
            name="mint"
            hint={isOfWallet(metric) ? "Its mint address; empty for any token." : "Its mint address."}
            failure={failure}
          >
            {(attributes) => (
              <input
                {...attributes}
                required={!isOfWallet(metric)}
                autocomplete="off"
                spellcheck={false}
                defaultValue={mint}
              />
            )}
          </Field>
        </div>
        <SelectField
          label="What"
          name="metric"
          field="condition.metric"
          failure={failure}
          options={metrics}
          value={metric}
          onChoose={setMetric}
        />
        {isOfWallet(metric) && (
          <>
            <Field label="Wallet" name="wallet" hint="One of the tracked wallets." failure={failure}>
              {(attributes) => <input {...attributes} required autocomplete="off" spellcheck={false} />}
            </Field>
            <SelectField label="Side" name="side" failure={failure} options={sides} />
          </>
        )}
        <SelectField
          key={isOfWallet(metric) ? "trade" : metric === "change_pct" ? "change" : "level"}
          label="Movement"
          name="operator"
          field="condition.operator"
          failure={failure}
          options={operatorsOf(metric)}
        />
        {hasWindow(metric) && (
          <SelectField
            key={metric === "liquidity_drop_pct" ? "drop" : "window"}
            label="Within"
            name="windowSeconds"
            field="condition.windowSeconds"
            failure={failure}
            options={windowsOf(metric)}
          />
        )}
        {hasSource(metric) && (
          <SelectField
            label="Measured by"
            name="source"
            field="condition.source"
            hint="One swap in a thin pool does not move the median."
            failure={failure}
            options={sources}
          />
        )}
        <Terms
          key={isOfWallet(metric) ? "trades" : "values"}
          alert={null}
          isOfTrades={isOfWallet(metric)}
          failure={failure}
        />
        {!isOfWallet(metric) && (
          <label class="check wide">
            <input type="checkbox" name="fireNow" />
            Fire at once if the value is past the threshold already
          </label>
        )}
      </Form>
    </Dialog>
  )
}
