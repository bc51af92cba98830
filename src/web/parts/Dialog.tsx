/** Modal dialogs by the browser's own element: it keeps the focus inside and closes at Escape. */
import type { ComponentChildren } from "preact"
import { useEffect, useId, useRef } from "preact/hooks"
import type { RequestFailed } from "../data/request.ts"
import { Failed } from "./States.tsx"

/** A modal dialog, open as long as it is rendered. */
export const Dialog = ({
  children,
  onClose,
  title
}: {
  readonly title: ComponentChildren
  readonly onClose: () => void
  readonly children: ComponentChildren
}) => {
  const id = useId()
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const opener = document.activeElement
    element.current?.showModal()
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) {
        opener.focus()
      }
    }
  }, [])
  return (
    <dialog ref={element} class="card dialog" aria-labelledby={id} onClose={onClose}>
      <div class="row spread">
        <h2 id={id}>{title}</h2>
        <button type="button" class="plain" aria-label="Close" onClick={() => element.current?.close()}>
          <span aria-hidden="true">✕</span>
        </button>
      </div>
      {children}
    </dialog>
  )
}

/** Asks before something is lost. */
export const Confirm = ({
  action,
  children,
  failure,
  isBusy,
  onClose,
  onConfirm,
  title
}: {
  readonly title: ComponentChildren
  /** Name of the button that goes on. */
  readonly action: string
  readonly failure: RequestFailed | null
  readonly isBusy: boolean
  readonly onClose: () => void
  readonly onConfirm: () => void
  readonly children: ComponentChildren
}) => (
  <Dialog title={title} onClose={onClose}>
    {children}
    {failure !== null && <Failed failure={failure} />}
    <div class="row">
      <button type="button" class="danger" disabled={isBusy} onClick={onConfirm}>
        {action}
      </button>
      <button type="button" onClick={onClose}>
        Cancel
      </button>
    </div>
  </Dialog>
)
