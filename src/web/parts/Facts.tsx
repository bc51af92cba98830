import type { ComponentChildren } from "preact"

/** A list of names and values. */
export const Facts = ({
  isNarrow = false,
  of: facts
}: {
  readonly isNarrow?: boolean
  readonly of: ReadonlyArray<readonly [name: string, value: ComponentChildren]>
}) => (
  <dl class={isNarrow ? "facts narrow" : "facts"}>
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)
