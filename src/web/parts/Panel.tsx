import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"
import type { Read } from "../data/useRead.ts"
import { Reading } from "./Reading.tsx"
import { Shown } from "./States.tsx"
import { Updated } from "./Updated.tsx"

/**
 * A card that shows a read repeated every `everyMs`, with the age of its answer. `controls` stay in place while the
 * read is loading.
 */
export const Panel = <A,>({
  children,
  controls = null,
  everyMs,
  isLive = false,
  isWide = false,
  read,
  rows,
  title
}: {
  readonly title: string
  readonly read: Read<A>
  readonly everyMs: number
  /** Rows to reserve until the first answer. */
  readonly rows: number
  /** True while a socket brings the changes. The read is then only checked now and then. */
  readonly isLive?: boolean
  readonly isWide?: boolean
  readonly controls?: ComponentChildren
  readonly children: (answer: A) => ComponentChildren
}) => {
  const id = useId()
  return (
    <section class={isWide ? "card wide" : "card"} aria-labelledby={id}>
      <div class="row spread">
        <h2 id={id}>{title}</h2>
        {isLive ? <span class="updated live">Live</span> : <Updated read={read} everyMs={everyMs} />}
      </div>
      <Reading meanwhile="figures may be missing" />
      {controls}
      <Shown read={read} what={title.toLowerCase()} rows={rows}>
        {children}
      </Shown>
    </section>
  )
}
