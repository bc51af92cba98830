/** Changing and removing an alert. */
import { call } from "../data/request.ts"
import { useAction } from "../data/useAction.ts"
import { Confirm, Dialog } from "../parts/Dialog.tsx"
import { Form, textsOf } from "../parts/Form.tsx"
import { Terms, termFields, termsOf } from "./terms.tsx"
import { type Alert, conditionWords } from "../parts/conditions.ts"

interface AlertProps {
  readonly alert: Alert
  readonly onClose: () => void
  readonly onDone: () => void
}

/** Dialog that changes threshold, recurrence, expiry and note of an alert that can still fire. */
export const EditAlert = ({ alert, onClose, onDone }: AlertProps) => {
  const action = useAction()
  const submit = (event: Event) => {
    const text = textsOf(event)
    const threshold = text("threshold")
    action.run(
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
      <Form layout="grid" action={action} fields={termFields} submit="Save" onSubmit={submit}>
        <Terms alert={alert} isOfTrades={alert.wallet !== null} failure={action.failure} />
      </Form>
    </Dialog>
  )
}

/** Asks before an alert is removed. */
export const RemoveAlert = ({ alert, onClose, onDone }: AlertProps) => (
  <Confirm
    title="Remove this alert?"
    action="Remove the alert"
    change={() => call("DELETE /api/v1/alerts/:id", { path: { id: alert.id } })}
    onClose={onClose}
    onDone={onDone}
  >
    <p>{conditionWords(alert.condition)}. Its firings stay listed for 30 days.</p>
  </Confirm>
)
