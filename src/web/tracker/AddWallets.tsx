/** Adding wallets: one with its label, or a pasted list. */
import { useState } from "preact/hooks"
import { call } from "../data/request.ts"
import { useAction } from "../data/useAction.ts"
import { Dialog } from "../parts/Dialog.tsx"
import { Field, issueWords, SelectField } from "../parts/Field.tsx"
import { Form, optional, textsOf } from "../parts/Form.tsx"
import { Failed } from "../parts/States.tsx"
import { Tabs } from "../parts/Tabs.tsx"
import { linesOf } from "./lines.ts"
import type { Group } from "./tracked.ts"

interface AddProps {
  readonly groups: ReadonlyArray<Group>
  /** The group chosen at first. */
  readonly group: string | null
  readonly onDone: () => void
}

const groupOptions = (groups: ReadonlyArray<Group>) => groups.map(({ groupId, name }) => [groupId, name] as const)

const oneFields = ["wallet", "label", "emoji", "group"]

/** Form for one wallet. Pass `wallet` when its address is already known. */
export const AddOne = ({ group, groups, onDone, wallet }: AddProps & { readonly wallet?: string }) => {
  const action = useAction()
  const { failure } = action
  const submit = (event: Event) => {
    const text = textsOf(event)
    action.run(
      () =>
        call("POST /api/v1/tracker/wallets", {
          body: {
            wallet: wallet ?? text("wallet"),
            ...optional("label", text("label")),
            ...optional("emoji", text("emoji")),
            ...optional("group", text("group"))
          }
        }),
      onDone
    )
  }
  return (
    <Form action={action} fields={oneFields} submit="Track it" onSubmit={submit}>
      {wallet === undefined && (
        <Field label="Address" name="wallet" failure={failure}>
          {(attributes) => <input {...attributes} required autocomplete="off" spellcheck={false} />}
        </Field>
      )}
      <Field label="Label" name="label" hint="For your eyes only; at most 64 characters." failure={failure}>
        {(attributes) => <input {...attributes} autocomplete="off" />}
      </Field>
      <Field label="Emoji" name="emoji" failure={failure}>
        {(attributes) => <input {...attributes} autocomplete="off" />}
      </Field>
      <SelectField
        label="Group"
        name="group"
        failure={failure}
        options={groupOptions(groups)}
        value={group ?? undefined}
      />
    </Form>
  )
}

const AddMany = ({ group, groups, onDone }: AddProps) => {
  const { failure, isBusy, run } = useAction()
  const [sent, setSent] = useState<ReadonlyArray<string>>([])
  const submit = (event: Event) => {
    const text = textsOf(event)
    const lines = linesOf(text("wallets"))
    setSent(lines.map(({ wallet }) => wallet))
    run(
      () =>
        call("POST /api/v1/tracker/wallets/batch", {
          body: { wallets: lines.map((line) => ({ ...line, ...optional("group", text("group")) })) }
        }),
      onDone
    )
  }
  const faults = (failure?.details ?? []).flatMap(({ field = "", issue }) => {
    const [, at, part] = /^wallets\.(\d+)\.(\w+)$/u.exec(field) ?? []
    return at === undefined
      ? []
      : [`${sent[Number(at)]}: the ${part === "wallet" ? "address" : part} ${issueWords(issue)}`]
  })
  return (
    <form class="stack" onSubmit={submit}>
      {failure !== null &&
        (faults.length === 0 ? (
          <Failed failure={failure} />
        ) : (
          <div class="failed" role="alert">
            <p>Nothing was added.</p>
            <ul>
              {faults.map((fault) => (
                <li key={fault} class="words">
                  {fault}
                </li>
              ))}
            </ul>
          </div>
        ))}
      <Field label="Addresses" name="wallets" hint="Up to 100, one per line. A label may follow its address.">
        {(attributes) => <textarea {...attributes} required rows={8} spellcheck={false} />}
      </Field>
      <SelectField label="Group" name="group" options={groupOptions(groups)} value={group ?? undefined} />
      <div class="row">
        <button class="main" type="submit" disabled={isBusy}>
          Track them
        </button>
      </div>
    </form>
  )
}

/** Dialog that adds wallets. */
export const AddWallets = ({ onClose, ...props }: AddProps & { readonly onClose: () => void }) => {
  const [kind, setKind] = useState<"one" | "many">("one")
  return (
    <Dialog title="Track wallets" onClose={onClose}>
      <Tabs
        label="How many"
        tabs={[
          ["one", "One wallet"],
          ["many", "A list"]
        ]}
        chosen={kind}
        onChoose={setKind}
      >
        {kind === "one" ? <AddOne {...props} /> : <AddMany {...props} />}
      </Tabs>
    </Dialog>
  )
}
