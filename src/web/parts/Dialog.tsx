/** Modal dialogs, by the browser's own element: it keeps the focus inside and closes on Escape. */
import type { ComponentChildren } from "preact"
import { useEffect, useId, useRef } from "preact/hooks"
import { useAction } from "../data/useAction.ts"
import { Failed } from "./States.tsx"

/** A modal dialog. It is open as long as it is rendered. */
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

/** A dialog that asks before something is lost, and then runs `change`. */
export const Confirm = ({
  action,
  change,
  children,
  onClose,
  onDone,
  title
}: {
  readonly title: ComponentChildren
  /** The words on the button that confirms. */
  readonly action: string
  readonly change: () => Promise<unknown>
  readonly onClose: () => void
  readonly onDone: () => void
  readonly children: ComponentChildren
}) => {
  const { failure, isBusy, run } = useAction()
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {failure !== null && <Failed failure={failure} />}
      <div class="row">
        <button type="button" class="danger" disabled={isBusy} onClick={() => run(change, onDone)}>
          {action}
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  )
}
