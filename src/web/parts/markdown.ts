/** Markdown as blocks: headings, paragraphs, lists, tables and code. Everything else stays text, HTML included. */

/** A stretch of text with one style. */
export type Inline =
  | { readonly kind: "text" | "code" | "strong" | "emphasis"; readonly text: string }
  | { readonly kind: "link"; readonly text: string; readonly href: string }

type Line = ReadonlyArray<Inline>

export type Block =
  | { readonly kind: "heading"; readonly level: number; readonly line: Line; readonly id: string }
  | { readonly kind: "paragraph"; readonly line: Line }
  | { readonly kind: "list"; readonly isOrdered: boolean; readonly items: ReadonlyArray<Line> }
  | { readonly kind: "table"; readonly head: ReadonlyArray<Line>; readonly rows: ReadonlyArray<ReadonlyArray<Line>> }
  | { readonly kind: "code"; readonly text: string }

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)\s]+)\)/gu

/**
 * True for addresses of the web, of this service and of this page. Anything else, above all `javascript:`, must not
 * become a link.
 */
const isAddress = (href: string): boolean => /^(?:https?:\/\/|\/(?!\/)|#)/u.test(href)

const markOf = ([, code, strong, emphasis, label, href]: RegExpExecArray): Inline => {
  if (code !== undefined) {
    return { kind: "code", text: code }
  }
  if (strong !== undefined) {
    return { kind: "strong", text: strong }
  }
  if (emphasis !== undefined) {
    return { kind: "emphasis", text: emphasis }
  }
  return href !== undefined && isAddress(href)
    ? { kind: "link", text: label ?? href, href }
    : { kind: "text", text: label ?? "" }
}

/** The stretches of one line. */
export const inlineOf = (text: string): Line => {
  const parts: Array<Inline> = []
  let from = 0
  for (const match of text.matchAll(INLINE)) {
    if (match.index > from) {
      parts.push({ kind: "text", text: text.slice(from, match.index) })
    }
    parts.push(markOf(match))
    from = match.index + match[0].length
  }
  return from < text.length ? [...parts, { kind: "text", text: text.slice(from) }] : parts
}

/** Id of a heading in addresses: its words in lower case, joined by hyphens. */
export const idOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, "-")
    .replaceAll(/^-|-$/gu, "")

const cellsOf = (row: string): ReadonlyArray<Line> =>
  row
    .trim()
    .replaceAll(/^\||\|$/gu, "")
    .split("|")
    .map((cell) => inlineOf(cell.trim()))

const ITEM = /^(?:[-*]|\d+\.) +/u

/** The items of a list. A line without a mark continues the item above it. */
const itemsOf = (lines: ReadonlyArray<string>): ReadonlyArray<Line> => {
  const items: Array<string> = []
  for (const line of lines) {
    const last = items.length - 1
    if (ITEM.test(line) || last < 0) {
      items.push(line.replace(ITEM, ""))
    } else {
      items[last] += ` ${line.trim()}`
    }
  }
  return items.map(inlineOf)
}

const blockOf = (lines: ReadonlyArray<string>): Block => {
  const [first = "", second = "", ...rest] = lines
  const heading = /^(#{1,6}) +(.+)$/u.exec(first)
  if (heading !== null) {
    const [, marks = "", text = ""] = heading
    return { kind: "heading", level: marks.length, line: inlineOf(text), id: idOf(text) }
  }
  if (first.startsWith("```")) {
    return { kind: "code", text: lines.slice(1, lines.at(-1)?.startsWith("```") === true ? -1 : undefined).join("\n") }
  }
  if (first.startsWith("|") && /^\|[\s:|-]+\|?$/u.test(second)) {
    return { kind: "table", head: cellsOf(first), rows: rest.map(cellsOf) }
  }
  if (ITEM.test(first)) {
    return { kind: "list", isOrdered: /^\d/u.test(first), items: itemsOf(lines) }
  }
  return { kind: "paragraph", line: inlineOf(lines.join(" ")) }
}

/** Splits lines into blocks. Empty lines separate blocks, except inside code; a heading is a block of its own. */
const groupsOf = (text: string): ReadonlyArray<ReadonlyArray<string>> => {
  const groups: Array<Array<string>> = []
  let group: Array<string> = []
  let isCode = false
  const close = () => {
    if (group.length > 0) {
      groups.push(group)
    }
    group = []
  }
  for (const line of text.split("\n")) {
    const isFence = line.startsWith("```")
    if (!isCode && (line.trim() === "" || line.startsWith("#") || isFence)) {
      close()
    }
    if (isCode || line.trim() !== "") {
      group.push(line)
    }
    if (isFence) {
      isCode = !isCode
    }
    if (!isCode && (isFence || line.startsWith("#"))) {
      close()
    }
  }
  close()
  return groups
}

/** The blocks of a Markdown text. */
export const blocksOf = (text: string): ReadonlyArray<Block> => groupsOf(text).map(blockOf)
