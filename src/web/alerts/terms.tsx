/** The form fields that creating and changing an alert share. */
import { useState } from "preact/hooks"
import type { BodyOf } from "../data/contract.ts"
import type { RequestFailed } from "../data/request.ts"
import { Field, SelectField } from "../parts/Field.tsx"
import type { Alert } from "../parts/conditions.ts"

const recurrences = [
  ["once", "Once"],
  ["repeat", "Repeatedly"]
] as const

/** A time for a `datetime-local` control, in the time zone of the browser. */
const localText = (atMs: number): string => {
  const offsetMs = new Date(atMs).getTimezoneOffset() * 60_000
  return new Date(atMs - offsetMs).toISOString().slice(0, 16)
}

const expiryOf = (text: string): number | null => (text === "" ? null : new Date(text).getTime())

/** The shared part of the request body, from the texts of a form. An empty note, expiry or cooldown becomes null. */
export const termsOf = (text: (name: string) => string) => {
  const recurrence: "once" | "repeat" = text("recurrence") === "repeat" ? "repeat" : "once"
  const cooldown = text("cooldownSeconds")
  return {
    recurrence,
    ...(recurrence === "repeat" ? { cooldownSeconds: cooldown === "" ? null : Number(cooldown) } : {}),
    expiresAtMs: expiryOf(text("expiresAtMs")),
    note: text("note") === "" ? null : text("note")
  } satisfies BodyOf<"PATCH /api/v1/alerts/:id">
}

/** Paths of the shared fields in a request. */
export const termFields = ["condition.threshold", "recurrence", "cooldownSeconds", "expiresAtMs", "note"]

interface TermsProps {
  /** The alert whose values the fields start with; null for a new alert. */
  readonly alert: Alert | null
  /** True when each trade of a wallet fires the alert. */
  readonly isOfTrades: boolean
  readonly failure: RequestFailed | null
}

/** Threshold, recurrence, cooldown, expiry and note. */
export const Terms = ({ alert, failure, isOfTrades }: TermsProps) => {
  const [recurrence, setRecurrence] = useState<"once" | "repeat">(alert?.recurrence ?? (isOfTrades ? "repeat" : "once"))
  const cooldown = alert?.cooldownSeconds ?? (isOfTrades ? "" : 300)
  return (
    <>
      <Field
        label="Threshold"
        name="threshold"
        field="condition.threshold"
        hint="Above 0, as a plain decimal."
        failure={failure}
      >
        {(attributes) => (
          <input
            {...attributes}
            required
            inputMode="decimal"
            autocomplete="off"
            defaultValue={alert?.condition.threshold ?? ""}
          />
        )}
      </Field>
      <SelectField
        label="Fires"
        name="recurrence"
        failure={failure}
        options={recurrences}
        value={recurrence}
        onChoose={setRecurrence}
      />
      {recurrence === "repeat" && (
        <Field
          label="Pause after firing, in seconds"
          name="cooldownSeconds"
          hint={isOfTrades ? "60 to 86 400; empty to fire for each trade" : "60 to 86 400"}
          failure={failure}
        >
          {(attributes) => <input {...attributes} type="number" inputMode="numeric" defaultValue={String(cooldown)} />}
        </Field>
      )}
      <Field label="Expires" name="expiresAtMs" hint="At most 90 days ahead; empty for never." failure={failure}>
        {(attributes) => (
          <input
            {...attributes}
            type="datetime-local"
            defaultValue={alert === null || alert.expiresAtMs === null ? "" : localText(alert.expiresAtMs)}
          />
        )}
      </Field>
      <Field label="Note" name="note" failure={failure}>
        {(attributes) => <input {...attributes} autocomplete="off" defaultValue={alert?.note ?? ""} />}
      </Field>
    </>
  )
}
