import type { ComponentChildren } from "preact"
import { PlainTable } from "./Table.tsx"
import { type Block, blocksOf, type Inline } from "./markdown.ts"

const Mark = ({ of: part }: { readonly of: Inline }) => {
  switch (part.kind) {
    case "code":
      return <code>{part.text}</code>
    case "strong":
      return <strong>{part.text}</strong>
    case "emphasis":
      return <em>{part.text}</em>
    case "link":
      return <a href={part.href}>{part.text}</a>
    default:
      return <>{part.text}</>
  }
}

/** A line of Markdown. */
export const Line = ({ of: line }: { readonly of: ReadonlyArray<Inline> }) => (
  <>
    {line.map((part, place) => (
      <Mark key={place} of={part} />
    ))}
  </>
)

const Heading = ({
  children,
  id,
  level
}: {
  readonly level: number
  readonly id: string
  readonly children: ComponentChildren
}) => {
  if (level === 1) {
    return <h1 id={id}>{children}</h1>
  }
  return level === 2 ? <h2 id={id}>{children}</h2> : <h3 id={id}>{children}</h3>
}

const cellsOf = (row: ReadonlyArray<ReadonlyArray<Inline>>) => row.map((cell) => <Line of={cell} />)

const Table = ({ head, rows }: Extract<Block, { readonly kind: "table" }>) => (
  <PlainTable label="Table" head={cellsOf(head)} rows={rows.map((row) => ({ cells: cellsOf(row) }))} />
)

const List = ({ isOrdered, items }: Extract<Block, { readonly kind: "list" }>) => {
  const lines = items.map((item, place) => (
    <li key={place}>
      <Line of={item} />
    </li>
  ))
  return isOrdered ? <ol>{lines}</ol> : <ul>{lines}</ul>
}

const BlockView = ({ of: block }: { readonly of: Block }) => {
  switch (block.kind) {
    case "heading":
      return (
        <Heading level={block.level} id={block.id}>
          <Line of={block.line} />
        </Heading>
      )
    case "code":
      return (
        <pre tabIndex={0}>
          <code>{block.text}</code>
        </pre>
      )
    case "table":
      return <Table {...block} />
    case "list":
      return <List {...block} />
    default:
      return (
        <p>
          <Line of={block.line} />
        </p>
      )
  }
}

/** A Markdown text. HTML in it is shown as text. */
export const Markdown = ({ text }: { readonly text: string }) => (
  <div class="prose">
    {blocksOf(text).map((block, place) => (
      <BlockView key={place} of={block} />
    ))}
  </div>
)
