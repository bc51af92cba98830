import { useState } from "preact/hooks"
import type { RequestFailed } from "../data/request.ts"
import type { Action } from "../data/useAction.ts"
import { Form } from "../parts/Form.tsx"
import { Field, SelectField } from "../parts/Field.tsx"
import { timeText } from "../parts/words.ts"
import { ipPolicyOf, type KeyTerms, type ManagedKey, type Plan, scopes } from "./keys.ts"

const DAY_MS = 86_400_000

/** Choices for the expiry. */
const expiries = [
  ["never", "Never"],
  ["7", "In 7 days"],
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In a year"]
] as const

type Expiry = (typeof expiries)[number][0] | "kept"

const FIELDS = ["name", "ipPolicy", "plan", "expiresAtMs", "scopes"]

/** Path of the first rejected address block; undefined when none was rejected. */
const blockOf = (failure: RequestFailed | null) =>
  failure?.details.find(({ field = "" }) => field.startsWith("ipPolicy["))?.field

const expiryOf = (expiry: Expiry, kept: number | null): number | null => {
  if (expiry === "kept") {
    return kept
  }
  return expiry === "never" ? null : Date.now() + Number(expiry) * DAY_MS
}

const Scopes = ({
  chosen,
  onChoose
}: {
  readonly chosen: ReadonlyArray<string>
  readonly onChoose: (scopes: ReadonlyArray<string>) => void
}) => (
  <fieldset class="scopes">
    <legend>Scopes</legend>
    {scopes.map(([scope, meaning], place) => (
      <label key={scope} class="check">
        <input
          type="checkbox"
          checked={place === 0 || chosen.includes(scope)}
          disabled={place === 0}
          onChange={({ currentTarget: { checked } }) =>
            onChoose(checked ? [...chosen, scope] : chosen.filter((other) => other !== scope))
          }
        />
        <span>
          <code>{scope}</code> <span class="soft">{meaning}</span>
        </span>
      </label>
    ))}
  </fieldset>
)

const planText = ({ name, quote, rest, windowSeconds }: Plan): string =>
  `${name}: ${rest} reads and ${quote} quotes in ${windowSeconds} s`

/** Form for the terms of a key: a new one, or the changed terms of `before`. */
export const KeyForm = ({
  action,
  before,
  onSubmit,
  plans,
  submit
}: {
  readonly action: Action
  readonly before: ManagedKey | null
  /** Plans to choose from. With none, the form leaves the plan out. */
  readonly plans: ReadonlyArray<Plan>
  readonly submit: string
  readonly onSubmit: (terms: KeyTerms) => void
}) => {
  const { failure } = action
  const kept = before?.expiresAtMs ?? null
  const [name, setName] = useState(before?.name ?? "")
  const [chosen, setChosen] = useState<ReadonlyArray<string>>(before?.scopes ?? ["md.read"])
  const [ips, setIps] = useState(before?.ipPolicy?.join("\n") ?? "")
  const [plan, setPlan] = useState(before?.plan ?? "default")
  const [expiry, setExpiry] = useState<Expiry>(kept === null ? "never" : "kept")
  const submitForm = (event: Event) => {
    event.preventDefault()
    onSubmit({
      name: name.trim(),
      scopes: chosen,
      ipPolicy: ipPolicyOf(ips),
      ...(plans.length > 1 ? { plan } : {}),
      expiresAtMs: expiryOf(expiry, kept)
    })
  }
  const options: ReadonlyArray<readonly [Expiry, string]> =
    kept === null ? expiries : [["kept", `Unchanged: ${timeText(kept)}`], ...expiries]
  return (
    <Form action={action} fields={[...FIELDS, blockOf(failure) ?? ""]} submit={submit} onSubmit={submitForm}>
      <Field label="Name" name="name" failure={failure} hint="1 to 64 characters.">
        {(attributes) => (
          <input
            {...attributes}
            value={name}
            required
            maxLength={64}
            autocomplete="off"
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        )}
      </Field>
      <Scopes chosen={chosen} onChoose={setChosen} />
      <details open={ips !== "" || kept !== null || (before !== null && before.plan !== "default")}>
        <summary>Addresses, plan and expiry</summary>
        <div class="stack">
          <Field
            label="Allowed addresses"
            name="ipPolicy"
            field={blockOf(failure) ?? "ipPolicy"}
            failure={failure}
            hint="Addresses or CIDR blocks, one per line, such as 203.0.113.0/24. Empty allows any."
          >
            {(attributes) => (
              <textarea
                {...attributes}
                rows={2}
                spellcheck={false}
                value={ips}
                onInput={({ currentTarget }) => setIps(currentTarget.value)}
              />
            )}
          </Field>
          {plans.length > 1 && (
            <SelectField
              label="Plan"
              name="plan"
              failure={failure}
              value={plan}
              options={plans.map((each) => [each.name, planText(each)])}
              onChoose={setPlan}
            />
          )}
          <SelectField
            label="Expires"
            name="expiresAtMs"
            failure={failure}
            value={expiry}
            options={options}
            onChoose={setExpiry}
          />
        </div>
      </details>
    </Form>
  )
}
