/** Groups of tracked wallets: choosing, creating, renaming and deleting. */
import { useState } from "preact/hooks"
import { call } from "../data/request.ts"
import { useAction } from "../data/useAction.ts"
import { Confirm, Dialog } from "../parts/Dialog.tsx"
import { Field } from "../parts/Field.tsx"
import { Form, textsOf } from "../parts/Form.tsx"
import type { Group } from "./tracked.ts"

const NameGroup = ({
  group,
  onClose,
  onDone
}: {
  /** Null for a new group. */
  readonly group: Group | null
  readonly onClose: () => void
  readonly onDone: (groupId: string) => void
}) => {
  const action = useAction()
  const submit = (event: Event) => {
    const body = { name: textsOf(event)("name") }
    action.run(
      () =>
        group === null
          ? call("POST /api/v1/tracker/groups", { body })
          : call("PATCH /api/v1/tracker/groups/:id", { path: { id: group.groupId }, body }),
      ({ groupId }) => onDone(groupId)
    )
  }
  return (
    <Dialog title={group === null ? "New group" : "Rename the group"} onClose={onClose}>
      <Form action={action} fields={["name"]} submit={group === null ? "Create" : "Save"} onSubmit={submit}>
        <Field label="Name" name="name" failure={action.failure}>
          {(attributes) => <input {...attributes} required autocomplete="off" defaultValue={group?.name ?? ""} />}
        </Field>
      </Form>
    </Dialog>
  )
}

const DeleteGroup = ({
  group: { groupId, name },
  onClose,
  onDone
}: {
  readonly group: Group
  readonly onClose: () => void
  readonly onDone: () => void
}) => (
  <Confirm
    title="Delete this group?"
    action="Delete the group"
    change={() => call("DELETE /api/v1/tracker/groups/:id", { path: { id: groupId } })}
    onClose={onClose}
    onDone={onDone}
  >
    <p>
      Wallets that are only in <bdi>{name}</bdi> move to Main. They stay tracked.
    </p>
  </Confirm>
)

/** A button for each group, and what can be done with the chosen group. `chosen` is null for all wallets. */
export const Groups = ({
  chosen,
  groups,
  onChange,
  onChoose,
  total
}: {
  readonly groups: ReadonlyArray<Group>
  readonly chosen: string | null
  /** Number of all wallets. */
  readonly total: number
  readonly onChoose: (groupId: string | null) => void
  /** Called after the groups changed. */
  readonly onChange: () => void
}) => {
  const [open, setOpen] = useState<"new" | "rename" | "delete" | null>(null)
  const group = groups.find(({ groupId }) => groupId === chosen) ?? null
  const close = () => setOpen(null)
  const done = (next: string | null) => {
    close()
    onChange()
    onChoose(next)
  }
  const choices = [{ groupId: null, name: "All", walletCount: total }, ...groups]
  return (
    <div class="row spread">
      <div class="row" role="group" aria-label="Groups">
        {choices.map(({ groupId, name, walletCount }) => (
          <button type="button" key={groupId} aria-pressed={groupId === chosen} onClick={() => onChoose(groupId)}>
            <bdi>{name}</bdi> <span>{walletCount}</span>
          </button>
        ))}
      </div>
      <div class="row">
        {group !== null && (
          <button type="button" class="plain" onClick={() => setOpen("rename")}>
            Rename
          </button>
        )}
        {group !== null && !group.isMain && (
          <button type="button" class="plain" onClick={() => setOpen("delete")}>
            Delete
          </button>
        )}
        <button type="button" class="plain" onClick={() => setOpen("new")}>
          New group
        </button>
      </div>
      {open === "new" && <NameGroup group={null} onClose={close} onDone={done} />}
      {open === "rename" && group !== null && <NameGroup group={group} onClose={close} onDone={done} />}
      {open === "delete" && group !== null && <DeleteGroup group={group} onClose={close} onDone={() => done(null)} />}
    </div>
  )
}
