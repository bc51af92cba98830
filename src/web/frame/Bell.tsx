/** The bell: alerts that fired, in every open page, with a sound and a notification of the browser. */
import { useEffect, useRef, useState } from "preact/hooks"
import { type Firing, useFirings } from "../data/useFirings.ts"
import { conditionWords, valueWords } from "../parts/conditions.ts"
import { TokenLink, When } from "../parts/Links.tsx"
import { Empty, Shown } from "../parts/States.tsx"
import { shortAddress } from "../parts/words.ts"

const SHOWN_MS = 10_000

const wordsOf = ({ condition, mint, value }: Firing): string =>
  `${shortAddress(mint)}: ${conditionWords(condition)}, now ${valueWords(condition.metric, value)}`

const Entry = ({ of: { condition, firedAtMs, mint, value } }: { readonly of: Firing }) => (
  <>
    <span class="row spread">
      <strong>
        <TokenLink mint={mint} />
      </strong>
      <span class="soft">
        <When atMs={firedAtMs} />
      </span>
    </span>
    <span>
      {conditionWords(condition)}, now {valueWords(condition.metric, value)}
    </span>
  </>
)

const Permission = () => {
  const [state, setState] = useState(() => ("Notification" in globalThis ? Notification.permission : "denied"))
  const ask = async () => setState(await Notification.requestPermission())
  return state === "default" ? (
    <button type="button" onClick={() => void ask()}>
      Notify me in this browser
    </button>
  ) : (
    <span class="soft">
      {state === "granted" ? "This browser notifies you." : "Notifications are off in this browser."}
    </span>
  )
}

/** Calls `close` when a click or the focus leaves an element, and on Escape. */
const useLeaving = (isOpen: boolean, close: () => void) => {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!isOpen) {
      return undefined
    }
    const leave = ({ target }: Event) => {
      if (target instanceof Node && element.current?.contains(target) !== true) {
        close()
      }
    }
    const press = ({ key }: KeyboardEvent) => key === "Escape" && close()
    document.addEventListener("pointerdown", leave)
    document.addEventListener("focusin", leave)
    document.addEventListener("keydown", press)
    return () => {
      document.removeEventListener("pointerdown", leave)
      document.removeEventListener("focusin", leave)
      document.removeEventListener("keydown", press)
    }
  }, [isOpen])
  return element
}

/** The newest firing of this visit, for some seconds. Screen readers announce it. */
const Toast = ({ firing, onHide }: { readonly firing: Firing | null; readonly onHide: () => void }) => {
  useEffect(() => {
    const timer = firing === null ? undefined : setTimeout(onHide, SHOWN_MS)
    return () => clearTimeout(timer)
  }, [firing?.eventId])
  return (
    <div class={firing === null ? "hidden" : "card toast"} role="status" aria-label="Alert">
      {firing !== null && (
        <>
          <Entry of={firing} />
          <button type="button" class="plain" aria-label="Hide" onClick={onHide}>
            <span aria-hidden="true">✕</span>
          </button>
        </>
      )}
    </div>
  )
}

export const Bell = () => {
  const [isOpen, setOpen] = useState(false)
  const { hideNewest, isQuiet, markSeen, newest, read, setQuiet, unseen } = useFirings(wordsOf)
  const element = useLeaving(isOpen, () => setOpen(false))
  const toggle = () => {
    setOpen(!isOpen)
    hideNewest()
    markSeen()
  }
  return (
    <div class="bell" ref={element}>
      <button
        type="button"
        class="plain"
        aria-expanded={isOpen}
        aria-label={unseen === 0 ? "Fired alerts" : `Fired alerts, ${unseen} new`}
        onClick={toggle}
      >
        <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
          <path
            d="M10 2a5 5 0 0 0-5 5v3.5L3.5 14h13L15 10.500V7a5 5 0 0 0-5-5zM8 16a2 2 0 0 0 4 0z"
            fill="currentColor"
          />
        </svg>
        {unseen > 0 && <span class="count">{unseen}</span>}
      </button>
      {isOpen && (
        <div class="card rung-list" role="dialog" aria-label="Fired alerts">
          <Shown read={read} what="fired alerts">
            {({ data }) =>
              data.length === 0 ? (
                <Empty>No alert has fired in the last 30 days.</Empty>
              ) : (
                <ul class="plain-list" tabIndex={0} aria-label="Newest first">
                  {data.map((firing) => (
                    <li key={firing.eventId}>
                      <Entry of={firing} />
                    </li>
                  ))}
                </ul>
              )
            }
          </Shown>
          <div class="row spread">
            <label class="check">
              <input
                type="checkbox"
                checked={!isQuiet}
                onChange={({ currentTarget }) => setQuiet(!currentTarget.checked)}
              />
              Sound
            </label>
            <Permission />
            <a href="/alerts">All alerts</a>
          </div>
        </div>
      )}
      <Toast firing={newest} onHide={hideNewest} />
    </div>
  )
}
