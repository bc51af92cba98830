/** Changing and removing a tracked wallet. */
import { call } from "../data/request.ts"
import { useAction } from "../data/useAction.ts"
import { Confirm, Dialog } from "../parts/Dialog.tsx"
import { faultOf, Field } from "../parts/Field.tsx"
import { checkedOf, Form, textsOf } from "../parts/Form.tsx"
import type { Group, Wallet } from "./tracked.ts"

interface WalletProps {
  readonly wallet: Wallet
  readonly onClose: () => void
  readonly onDone: () => void
}

const fields = ["label", "emoji", "notes", "groups"]

const orNull = (text: string): string | null => (text === "" ? null : text)

/** The checked groups. The primary group comes first if it is checked. */
const inOrder = (checked: ReadonlyArray<string>, primary: string): ReadonlyArray<string> =>
  checked.includes(primary) ? [primary, ...checked.filter((id) => id !== primary)] : checked

const GroupBoxes = ({
  fault,
  groups,
  wallet
}: {
  readonly wallet: Wallet
  readonly groups: ReadonlyArray<Group>
  readonly fault: string | null
}) => (
  <fieldset>
    <legend>Groups</legend>
    {groups.map(({ groupId, name }) => (
      <label class="check" key={groupId}>
        <input type="checkbox" name="groups" value={groupId} defaultChecked={wallet.groups.includes(groupId)} />
        <bdi>{name}</bdi>
      </label>
    ))}
    {fault !== null && <span class="field-error">Groups {fault}</span>}
  </fieldset>
)

/** Dialog that changes label, emoji, notes and groups. */
export const EditWallet = ({
  groups,
  onClose,
  onDone,
  wallet
}: WalletProps & { readonly groups: ReadonlyArray<Group> }) => {
  const action = useAction()
  const { failure } = action
  const submit = (event: Event) => {
    const text = textsOf(event)
    const checked = inOrder(checkedOf(event, "groups"), wallet.groupId)
    action.run(
      () =>
        call("PATCH /api/v1/tracker/wallets/:wallet", {
          path: { wallet: wallet.wallet },
          body: {
            label: orNull(text("label")),
            emoji: orNull(text("emoji")),
            notes: orNull(text("notes")),
            groups: checked
          }
        }),
      onDone
    )
  }
  return (
    <Dialog title="Edit a tracked wallet" onClose={onClose}>
      <p class="address">{wallet.wallet}</p>
      <Form action={action} fields={fields} submit="Save" onSubmit={submit}>
        <Field label="Label" name="label" failure={failure}>
          {(attributes) => <input {...attributes} autocomplete="off" defaultValue={wallet.label ?? ""} />}
        </Field>
        <Field label="Emoji" name="emoji" failure={failure}>
          {(attributes) => <input {...attributes} autocomplete="off" defaultValue={wallet.emoji ?? ""} />}
        </Field>
        <Field label="Notes" name="notes" hint="At most 500 characters." failure={failure}>
          {(attributes) => <textarea {...attributes} defaultValue={wallet.notes ?? ""} />}
        </Field>
        <GroupBoxes wallet={wallet} groups={groups} fault={faultOf(failure, "groups")} />
      </Form>
    </Dialog>
  )
}

/** Asks before a wallet is no longer tracked. */
export const RemoveWallet = ({ onClose, onDone, wallet: { label, wallet } }: WalletProps) => (
  <Confirm
    title="Stop tracking this wallet?"
    action="Stop tracking"
    change={() => call("DELETE /api/v1/tracker/wallets/:wallet", { path: { wallet } })}
    onClose={onClose}
    onDone={onDone}
  >
    <p>
      {label !== null && (
        <>
          <bdi>{label}</bdi>,{" "}
        </>
      )}
      <span class="address">{wallet}</span>: its label and notes are deleted, it leaves its groups, and its trades are
      no longer listed.
    </p>
  </Confirm>
)
