/** Writes the reference in plain Markdown, and the list of documents for language models, from the OpenAPI document. */

type Json = Readonly<Record<string, unknown>>

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: Json
}

interface Operation {
  readonly operationId?: string
  readonly summary?: string
  readonly description?: string
  readonly tags?: ReadonlyArray<string>
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly content: { readonly "application/json"?: { readonly schema: Json } } }
  readonly responses: Readonly<Record<string, { readonly description?: string; readonly content?: Json }>>
}

/** The parts of an OpenAPI document that the reference shows. */
export interface ReferenceDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description?: string }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Json>> }
}

/** A document: its file name below `/docs/`, its content in a few words, and its text. */
export interface MarkdownPage {
  readonly name: string
  readonly about: string
  readonly text: string
}

const REF = "#/components/schemas/"

/** The name that a schema refers to, with or without a description beside the reference. */
const nameOf = (schema: Json): string | null => {
  const { allOf } = schema
  const [only, ...others] = Array.isArray(allOf) ? (allOf as ReadonlyArray<Json>) : []
  const ref = only !== undefined && others.length === 0 ? only["$ref"] : schema["$ref"]
  return typeof ref === "string" ? ref.slice(REF.length) : null
}

/** Named schemas. */
interface Named {
  readonly components: { readonly schemas: Readonly<Record<string, Json>> }
}

const resolved = (schema: Json, { components }: Named): Json => {
  const name = nameOf(schema)
  return name === null ? schema : (components.schemas[name] ?? {})
}

/** The type of a schema in a word or two. */
const typeOf = (schema: Json): string => {
  const name = nameOf(schema)
  if (name !== null) {
    return name
  }
  const members = schema["anyOf"] ?? schema["oneOf"]
  if (Array.isArray(members)) {
    return (members as ReadonlyArray<Json>).map(typeOf).join(" or ")
  }
  if (Array.isArray(schema["enum"])) {
    return (schema["enum"] as ReadonlyArray<unknown>).map((value) => `\`${String(value)}\``).join(", ")
  }
  return schema["type"] === "array"
    ? `list of ${typeOf((schema["items"] ?? {}) as Json)}`
    : String(schema["type"] ?? "any")
}

/** A text in one cell of a table. */
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll(/\s+/gu, " ")

const rowOf = (name: string, schema: Json, isRequired: boolean, description: string) =>
  `| \`${name}\` | ${cell(typeOf(schema))} | ${isRequired ? "yes" : "no"} | ${cell(description)} |`

/** A table of properties; nothing without rows. */
export const table = (rows: ReadonlyArray<string>): ReadonlyArray<string> =>
  rows.length === 0 ? [] : ["", "| name | type | required | meaning |", "| --- | --- | --- | --- |", ...rows]

/** The rows of the properties of a schema. */
export const propertiesOf = (schema: Json, document: Named): ReadonlyArray<string> => {
  const whole = resolved(schema, document)
  const required = (whole["required"] ?? []) as ReadonlyArray<string>
  return Object.entries((whole["properties"] ?? {}) as Readonly<Record<string, Json>>).map(([name, property]) => {
    const own = property["description"] ?? resolved(property, document)["description"] ?? ""
    return rowOf(name, property, required.includes(name), String(own))
  })
}

const operationText = (path: string, method: string, operation: Operation, document: ReferenceDocument): string => {
  const parameters = (operation.parameters ?? []).filter((each) => each.in !== "header")
  const body = operation.requestBody?.content["application/json"]?.schema
  const answer = (operation.responses["200"]?.content?.["application/json"] as { readonly schema: Json } | undefined)
    ?.schema
  const errors = Object.keys(operation.responses).filter((status) => Number(status) >= 400)
  return [
    `## ${operation.summary ?? operation.operationId ?? path}`,
    "",
    `\`${method.toUpperCase()} ${path}\` (\`${operation.operationId ?? ""}\`)`,
    ...(operation.description === undefined ? [] : ["", operation.description]),
    ...table(
      parameters.map(({ description, name, required, schema }) => {
        const text = description ?? schema["description"] ?? resolved(schema, document)["description"] ?? ""
        return rowOf(name, schema, required === true, String(text))
      })
    ),
    ...(body === undefined ? [] : ["", `Body: ${typeOf(body)}.`, ...table(propertiesOf(body, document))]),
    ...(answer === undefined ? [] : ["", `Answer: ${typeOf(answer)}.`, ...table(propertiesOf(answer, document))]),
    ...(errors.length === 0 ? [] : ["", `Errors: ${errors.join(", ")}.`])
  ].join("\n")
}

/** Groups that are of no use to a caller with a key. */
const HIDDEN = new Set(["accountKeys", "closed", "sessions"])

/** A page for each group of operations, and one with all of them, `reference.md`. */
export const referencePages = (document: ReferenceDocument): ReadonlyArray<MarkdownPage> => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation }))
  )
  const pages = document.tags
    .filter(({ name }) => !HIDDEN.has(name))
    .map(({ description = "", name }) => {
      const own = operations.filter(({ operation }) => operation.tags?.includes(name) === true)
      const texts = own.map(({ method, operation, path }) => operationText(path, method, operation, document))
      return {
        name: `${name}.md`,
        about: description,
        text: [`# ${name}`, description, ...texts].join("\n\n").concat("\n")
      }
    })
  const { description = "", title } = document.info
  const all = [`# ${title}`, description, ...pages.map(({ text }) => text.trimEnd())].join("\n\n").concat("\n")
  return [{ name: "reference.md", about: "Every operation on one page.", text: all }, ...pages]
}

/** `llms.txt`: what the service is, and where its documents are. */
export const llmsText = ({ info }: ReferenceDocument, pages: ReadonlyArray<MarkdownPage>): string => {
  const { description = "", title } = info
  return [
    `# ${title}`,
    "",
    `> ${description.split("\n\n")[0] ?? ""}`,
    "",
    description.split("\n\n").slice(1).join("\n\n"),
    "",
    "## Reference",
    "",
    ...pages.map(({ about, name }) => `- [${name}](/docs/${name}): ${about}`),
    "",
    "## Machines",
    "",
    "- [openapi.json](/openapi.json): The contract as an OpenAPI 3.1 document.",
    "- [asyncapi.json](/asyncapi.json): The sockets and event streams as an AsyncAPI 3 document.",
    "- [mcp](/mcp): The reads as tools of the Model Context Protocol, and these pages as its resources, by streamable HTTP.",
    "",
    "## Optional",
    "",
    "- [changelog](/changelog): Dated changes of the contract.",
    ""
  ].join("\n")
}
