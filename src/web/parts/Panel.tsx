import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"
import { useProgress } from "../data/useProgress.ts"
import type { Read } from "../data/useRead.ts"
import { Shown } from "./States.tsx"
import { Updated } from "./Updated.tsx"
import { ageWords } from "./words.ts"

/** Says in a panel that the market is still being read, how far, and for how long; nothing once it is whole. */
const Reading = () => {
  const progress = useProgress()
  if (progress === null) {
    return null
  }
  const { leftMs, share } = progress
  const left = leftMs === null ? "" : `, about ${ageWords(leftMs)} left`
  return (
    <p class="note reading">
      The market of the last day is being read, oldest blocks first: {Math.floor(100 * share)} %{left}. Until then
      figures may be missing.
    </p>
  )
}

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
      <Reading />
      {controls}
      <Shown read={read} what={title.toLowerCase()} rows={rows}>
        {children}
      </Shown>
    </section>
  )
}
