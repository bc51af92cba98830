/** Tabs over one panel. The arrow keys move between them. */
import type { ComponentChildren } from "preact"
import { useId, useRef } from "preact/hooks"

const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 }

/** A row of tabs and the panel of the chosen one. */
export const Tabs = <Key extends string>({
  children,
  chosen,
  label,
  onChoose,
  tabs
}: {
  readonly label: string
  /** Keys and names, in order. */
  readonly tabs: ReadonlyArray<readonly [key: Key, name: string]>
  readonly chosen: Key
  readonly onChoose: (key: Key) => void
  readonly children: ComponentChildren
}) => {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const move = (event: KeyboardEvent) => {
    const step = steps[event.key]
    if (step === undefined) {
      return
    }
    const at = (tabs.findIndex(([key]) => key === chosen) + step + tabs.length) % tabs.length
    const next = tabs[at]
    if (next !== undefined) {
      event.preventDefault()
      onChoose(next[0])
      list.current?.querySelectorAll<HTMLElement>("[role=tab]")[at]?.focus()
    }
  }
  return (
    <>
      <div class="row tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {tabs.map(([key, name]) => (
          <button
            key={key}
            type="button"
            role="tab"
            id={`${id}-${key}`}
            aria-selected={key === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={key === chosen ? 0 : -1}
            onClick={() => onChoose(key)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        {children}
      </div>
    </>
  )
}
