import { ageWords, timeText } from "../parts/words.ts"
import { type ManagedKey, stateOf } from "./keys.ts"

/** A task that an owner may do with a key. */
export type KeyTask = "change" | "rotate" | "disable" | "enable" | "revoke"

const stateWords = {
  active: "active",
  disabled: "switched off",
  expired: "expired",
  revoked: "revoked"
} as const

const Time = ({ ms, otherwise }: { readonly ms: number | null; readonly otherwise: string }) =>
  ms === null ? <>{otherwise}</> : <time dateTime={new Date(ms).toISOString()}>{timeText(ms)}</time>

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

/** One key with its terms and what can be done with it. */
export const KeyCard = ({
  isBusy,
  of: key,
  onTask
}: {
  readonly of: ManagedKey
  readonly isBusy: boolean
  readonly onTask: (task: KeyTask) => void
}) => {
  const nowMs = Date.now()
  const state = stateOf(key, nowMs)
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
      <dl class="facts narrow">
        <div>
          <dt>Scopes</dt>
          <dd>{scopes.join(", ")}</dd>
        </div>
        <div>
          <dt>Plan</dt>
          <dd>{plan}</dd>
        </div>
        <div>
          <dt>Addresses</dt>
          <dd>{ipPolicy === null ? "any" : ipPolicy.join(", ")}</dd>
        </div>
        <div>
          <dt>Last used</dt>
          <dd title={lastUsedAtMs === null ? undefined : timeText(lastUsedAtMs)}>
            {lastUsedAtMs === null ? "never" : `${ageWords(nowMs - lastUsedAtMs)} ago`}
          </dd>
        </div>
        <div>
          <dt>Expires</dt>
          <dd>
            <Time ms={expiresAtMs} otherwise="never" />
          </dd>
        </div>
        <div>
          <dt>Made</dt>
          <dd>
            <Time ms={createdAtMs} otherwise="–" />
          </dd>
        </div>
      </dl>
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
