import { useState } from "preact/hooks"
import { useSession } from "../data/session.tsx"
import { type Action, useAction } from "../data/useAction.ts"
import { useReading } from "../data/useRead.ts"
import { Confirm, Dialog } from "../parts/Dialog.tsx"
import { Empty, Failed, Shown } from "../parts/States.tsx"
import { KeyCard, type KeyTask } from "./KeyCard.tsx"
import { KeyForm } from "./KeyForm.tsx"
import {
  changeKey,
  createKey,
  type KeyList,
  type ManagedKey,
  type NewKey,
  type Plan,
  readPlans,
  revokeKey,
  rotateKey,
  stateOf,
  switchKey
} from "./keys.ts"
import { SecretShown } from "./SecretShown.tsx"
import type { Read } from "../data/useRead.ts"

const HOUR_S = 3600

const overlaps = [
  [0, "at once"],
  [HOUR_S, "after an hour"],
  [24 * HOUR_S, "after a day"],
  [7 * 24 * HOUR_S, "after a week"]
] as const

const Named = ({ name, task }: { readonly task: string; readonly name: string }) => (
  <>
    {task} <bdi>{name}</bdi>
  </>
)

const Rotation = ({
  action,
  of: key,
  onClose,
  onRotate
}: {
  readonly of: ManagedKey
  readonly action: Action
  readonly onClose: () => void
  readonly onRotate: (overlapSeconds: number) => void
}) => {
  const [overlap, setOverlap] = useState(24 * HOUR_S)
  return (
    <Dialog title={<Named task="Rotate" name={key.name} />} onClose={onClose}>
      <p>
        A new key with the same rights replaces it. The old key keeps working for a while, so that you can switch your
        programs over.
      </p>
      {action.failure !== null && <Failed failure={action.failure} />}
      <label>
        The old key ends
        <select value={overlap} onChange={({ currentTarget }) => setOverlap(Number(currentTarget.value))}>
          {overlaps.map(([seconds, words]) => (
            <option key={seconds} value={seconds}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <div class="row">
        <button type="button" class="main" disabled={action.isBusy} onClick={() => onRotate(overlap)}>
          Rotate
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  )
}

/** A key and the task chosen for it. */
interface Chosen {
  readonly key: ManagedKey
  readonly task: KeyTask
}

const TaskDialog = ({
  action,
  chosen: { key, task },
  onClose,
  onDone,
  plans
}: {
  readonly chosen: Chosen
  readonly action: Action
  readonly plans: ReadonlyArray<Plan>
  readonly onClose: () => void
  /** Called after the change, with the new key after a rotation. */
  readonly onDone: (made: NewKey | null) => void
}) => {
  if (task === "change") {
    return (
      <Dialog title={<Named task="Edit" name={key.name} />} onClose={onClose}>
        <KeyForm
          action={action}
          before={key}
          plans={plans}
          submit="Save"
          onSubmit={(terms) =>
            action.run(
              () => changeKey(key.id, terms),
              () => onDone(null)
            )
          }
        />
      </Dialog>
    )
  }
  if (task === "rotate") {
    return (
      <Rotation
        of={key}
        action={action}
        onClose={onClose}
        onRotate={(overlap) => action.run(() => rotateKey(key.id, overlap), onDone)}
      />
    )
  }
  return (
    <Confirm
      title={<Named task="Revoke" name={key.name} />}
      action="Revoke for good"
      change={() => revokeKey(key.id)}
      onClose={onClose}
      onDone={() => onDone(null)}
    >
      <p>
        From now on every request with this key is refused. A revoked key cannot be restored; a key that is switched off
        can.
      </p>
    </Confirm>
  )
}

const countWords = (active: number, limit: number): string =>
  active >= limit
    ? `${active} of ${limit} active keys: revoke or switch off one before you create another.`
    : `${active} of ${limit} active keys.`

/** The keys of the account: a list, a form for a new key, and a dialog for each task. */
export const Keys = ({ read, onChange }: { readonly read: Read<KeyList>; readonly onChange: () => void }) => {
  const { account } = useSession()
  const plans = useReading("plans", readPlans)
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<NewKey | null>(null)
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const making = useAction()
  const action = useAction()
  // Only owners choose a plan.
  const offered = account?.role === "owner" ? (plans.answer ?? []) : []
  const done = (created: NewKey | null) => {
    setMade((before) => created ?? before)
    setMaking(false)
    setChosen(null)
    onChange()
  }
  const begin = (key: ManagedKey, task: KeyTask) => {
    action.clear()
    if (task === "disable" || task === "enable") {
      action.run(
        () => switchKey(key.id, task === "enable"),
        () => done(null)
      )
    } else {
      setChosen({ key, task })
    }
  }
  return (
    <section class="stack" aria-labelledby="keys">
      <div class="row spread">
        <h2 id="keys">Keys</h2>
        {!isMaking && (
          <button type="button" class="main" onClick={() => setMaking(true)}>
            New key
          </button>
        )}
      </div>
      {made !== null && <SecretShown key={made.key.id} made={made} onDone={() => setMade(null)} />}
      {isMaking && (
        <div class="card">
          <div class="row spread">
            <h3>New key</h3>
            <button type="button" class="plain" onClick={() => setMaking(false)}>
              Cancel
            </button>
          </div>
          <KeyForm
            action={making}
            before={null}
            plans={offered}
            submit="Create the key"
            onSubmit={(terms) => making.run(() => createKey(terms), done)}
          />
        </div>
      )}
      {action.failure !== null && chosen === null && <Failed failure={action.failure} />}
      <Shown read={read} what="the keys" rows={24}>
        {({ data, meta: { limit } }) => (
          <>
            <p class="soft" role="status">
              {countWords(data.filter((key) => stateOf(key, Date.now()) === "active").length, limit)}
            </p>
            {data.length === 0 && <Empty>No keys yet. Programs send a key with their requests.</Empty>}
            <ul class="keys">
              {data.map((key) => (
                <KeyCard key={key.id} of={key} isBusy={action.isBusy} onTask={(task) => begin(key, task)} />
              ))}
            </ul>
          </>
        )}
      </Shown>
      {chosen !== null && (
        <TaskDialog chosen={chosen} action={action} plans={offered} onClose={() => setChosen(null)} onDone={done} />
      )}
    </section>
  )
}
