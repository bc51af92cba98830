import { Facts } from "../parts/Facts.tsx"
import { When } from "../parts/Links.tsx"
import { timeText } from "../parts/words.ts"
import { type ManagedKey, stateOf } from "./keys.ts"

/** Something that can be done with a key. */
export type KeyTask = "change" | "rotate" | "disable" | "enable" | "revoke"

const stateWords = {
  active: "active",
  disabled: "switched off",
  expired: "expired",
  revoked: "revoked"
} as const

const Time = ({ ms }: { readonly ms: number }) => <time dateTime={new Date(ms).toISOString()}>{timeText(ms)}</time>

const tasksOf = (state: ReturnType<typeof stateOf>): ReadonlyArray<readonly [KeyTask, string]> => {
  switch (state) {
    case "revoked":
      return []
    case "expired":
      return [
        ["change", "Edit"],
        ["revoke", "Revoke"]
      ]
    case "disabled":
      return [
        ["change", "Edit"],
        ["enable", "Switch on"],
        ["revoke", "Revoke"]
      ]
    default:
      return [
        ["change", "Edit"],
        ["rotate", "Rotate"],
        ["disable", "Switch off"],
        ["revoke", "Revoke"]
      ]
  }
}

/** One key with its terms and buttons. */
export const KeyCard = ({
  isBusy,
  of: key,
  onTask
}: {
  readonly of: ManagedKey
  readonly isBusy: boolean
  readonly onTask: (task: KeyTask) => void
}) => {
  const state = stateOf(key, Date.now())
  const { createdAtMs, expiresAtMs, ipPolicy, lastFour, lastUsedAtMs, name, plan, prefix, scopes } = key
  return (
    <li class={`card api-key ${state}`}>
      <div class="row spread">
        <h3>
          <bdi>{name}</bdi>
        </h3>
        <span class={`badge ${state}`}>{stateWords[state]}</span>
      </div>
      <p class="address">
        {prefix}…{lastFour}
      </p>
      <Facts
        isNarrow
        of={[
          ["Scopes", scopes.join(", ")],
          ["Plan", plan],
          ["Addresses", ipPolicy === null ? "any" : ipPolicy.join(", ")],
          ["Last used", lastUsedAtMs === null ? "never" : <When atMs={lastUsedAtMs} />],
          ["Expires", expiresAtMs === null ? "never" : <Time ms={expiresAtMs} />],
          ["Created", <Time ms={createdAtMs} />]
        ]}
      />
      <div class="row">
        {tasksOf(state).map(([task, words]) => (
          <button
            key={task}
            type="button"
            class={task === "revoke" ? "danger" : undefined}
            disabled={isBusy}
            aria-label={`${words} ${name}`}
            onClick={() => onTask(task)}
          >
            {words}
          </button>
        ))}
      </div>
    </li>
  )
}
