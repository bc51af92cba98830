/** Descriptions of fields as comments of the declarations. Names carry a number through the compiler of types, which knows no comments. */
import type { SchemaRepresentation } from "effect"

type Document = SchemaRepresentation.MultiDocument

type Node = Readonly<Record<string, unknown>>

interface Described {
  readonly document: Document
  /** Descriptions by the number in a marked name. */
  readonly texts: ReadonlyArray<string>
  /** Descriptions of named schemas. */
  readonly about: ReadonlyMap<string, string>
}

const MARK = "__d"

const listOf = (value: unknown): ReadonlyArray<Node> => (Array.isArray(value) ? (value as ReadonlyArray<Node>) : [])

const textOf = (node: Node | undefined): string | undefined =>
  (node?.["annotations"] as { readonly description?: string } | undefined)?.description

/** The schema that a reference names; any other node as it is. */
const resolved = (node: Node | undefined, { references }: Document): Node | undefined =>
  node?.["_tag"] === "Reference"
    ? (references as unknown as Readonly<Record<string, Node>>)[String(node["$ref"])]
    : node

/** What a schema says about itself. A value that may be null is described by its other member. */
const ownText = (node: Node | undefined, document: Document): string | undefined => {
  const schema = resolved(node, document)
  const checked = listOf(schema?.["checks"]).findLast((check) => textOf(check) !== undefined)
  const members = listOf(schema?.["types"]).filter((member) => member["_tag"] !== "Null")
  return (
    textOf(node) ??
    textOf(schema) ??
    textOf(checked) ??
    (members.length === 1 ? ownText(members[0], document) : undefined)
  )
}

/**
 * Marks every described field of the types. Where a value is sent in another form, `sent`, the documents of the service
 * describe that form, so its texts are taken too.
 */
export const withMarks = (types: Document, sent: Document): Described => {
  const texts: Array<string> = []
  const references: Record<string, Node> = {}

  const propertyOf = (property: Node, its: Node | undefined): Node => {
    const own = property["type"] as Node
    const other = its?.["type"] as Node | undefined
    const text = textOf(property) ?? textOf(its) ?? ownText(other, sent) ?? ownText(own, types)
    const type = marked(own, other)
    return text === undefined
      ? { ...property, type }
      : { ...property, type, name: `${String(property["name"])}${MARK}${texts.push(text) - 1}` }
  }

  const partsOf = (name: string, node: Node, its: Node | undefined) => {
    const others = listOf(its?.[name])
    const own = listOf(node[name])
    return own.map((part, at) => marked(part, own.length === others.length ? others[at] : undefined))
  }

  const marked = (node: Node, its: Node | undefined): Node => {
    const other = resolved(its, sent)
    if (node["_tag"] === "Reference") {
      const name = String(node["$ref"])
      const target = resolved(node, types)
      if (references[name] === undefined && target !== undefined) {
        references[name] = target
        references[name] = marked(target, other)
      }
      return node
    }
    if (node["_tag"] === "Objects") {
      const theirs = new Map(listOf(other?.["propertySignatures"]).map((property) => [property["name"], property]))
      const propertySignatures = listOf(node["propertySignatures"]).map((property) =>
        propertyOf(property, theirs.get(property["name"]))
      )
      return { ...node, propertySignatures }
    }
    if (node["_tag"] === "Arrays") {
      return { ...node, elements: partsOf("elements", node, other), rest: partsOf("rest", node, other) }
    }
    return node["_tag"] === "Union" ? { ...node, types: partsOf("types", node, other) } : node
  }

  const nodes = types.representations as unknown as ReadonlyArray<Node>
  const representations = nodes.map((node, at) => marked(node, sent.representations[at] as unknown as Node))
  const document = { representations, references: { ...types.references, ...references } }
  const about = new Map(
    [types, sent].flatMap((each) =>
      Object.entries(each.references).flatMap(([name, node]) => {
        const text = ownText(node as unknown as Node, each)
        return text === undefined ? [] : [[name, text] as const]
      })
    )
  )
  return { texts, about, document: document as unknown as Document }
}

/** A text without the marks of its names. */
export const withoutMarks = (text: string): string => text.replaceAll(/__d\d+\b/gu, "")

/** Each property of an object type on a line of its own. Quoted texts are left alone. */
const inLines = (text: string, indent: string): string => {
  let depth = 0
  const lineOf = () => `\n${indent}${"  ".repeat(depth)}`
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|\{ (?=readonly )|,(?= readonly )\s|\{|\s?\}/gu, (found) => {
    if (found.startsWith('"')) {
      return found
    }
    if (found.startsWith(",")) {
      return depth === 0 ? found : `,${lineOf()}`
    }
    if (found.endsWith("}")) {
      depth -= 1
      return `${lineOf()}}`
    }
    depth += 1
    return `{${lineOf()}`
  })
}

/** The text of types with a comment before each described property. */
export const withComments = (text: string, texts: ReadonlyArray<string>, indent = ""): string =>
  inLines(text, indent).replaceAll(
    /(?<space>[ ]*)readonly (?:"(?<quoted>[^"\n]+)__d(?<first>\d+)"|(?<name>\w+?)__d(?<second>\d+))/gu,
    (...found) => {
      const { first, name, quoted, second, space = "" } = found.at(-1) as Readonly<Record<string, string | undefined>>
      const comment = texts[Number(first ?? second)]?.replaceAll("*/", "* /").replaceAll(/\s+/gu, " ")
      return `${space}/** ${comment} */\n${space}readonly ${name ?? `"${quoted}"`}`
    }
  )
