/** Changes and removal of an alert. */
import { call } from "../data/request.ts"
import { useAction } from "../data/useAction.ts"
import { Confirm, Dialog } from "../parts/Dialog.tsx"
import { isAtFields } from "../parts/Field.tsx"
import { textsOf } from "../parts/form.ts"
import { Failed } from "../parts/States.tsx"
import { Terms, termFields, termsOf } from "./terms.tsx"
import { type Alert, conditionWords } from "./words.ts"

interface AlertProps {
  readonly alert: Alert
  readonly onClose: () => void
  readonly onDone: () => void
}

/** Dialog that changes threshold, recurrence, expiry and note of an alert that can still fire. */
export const EditAlert = ({ alert, onClose, onDone }: AlertProps) => {
  const { failure, isBusy, run } = useAction()
  const submit = (event: Event) => {
    const text = textsOf(event)
    const threshold = text("threshold")
    run(
      () =>
        call("PATCH /api/v1/alerts/:id", {
          path: { id: alert.id },
          body: { ...termsOf(text), ...(threshold === alert.condition.threshold ? {} : { condition: { threshold } }) }
        }),
      onDone
    )
  }
  return (
    <Dialog title="Edit the alert" onClose={onClose}>
      <p>{conditionWords(alert.condition)}</p>
      <form class="grid" onSubmit={submit}>
        {failure !== null && !isAtFields(failure, termFields) && (
          <div class="wide">
            <Failed failure={failure} />
          </div>
        )}
        <Terms alert={alert} isOfTrades={alert.wallet !== null} failure={failure} />
        <div class="row wide">
          <button class="main" type="submit" disabled={isBusy}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** Asks before an alert is removed. */
export const RemoveAlert = ({ alert, onClose, onDone }: AlertProps) => {
  const { failure, isBusy, run } = useAction()
  return (
    <Confirm
      title="Remove this alert?"
      action="Remove the alert"
      failure={failure}
      isBusy={isBusy}
      onClose={onClose}
      onConfirm={() => run(() => call("DELETE /api/v1/alerts/:id", { path: { id: alert.id } }), onDone)}
    >
      <p>{conditionWords(alert.condition)}. Its firings stay listed for 30 days.</p>
    </Confirm>
  )
}
