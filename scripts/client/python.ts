/** Makes the Python client: TypedDicts of the schemas, a class of methods for each group, and which texts are numbers. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { isRepeatable } from "../../src/client/repeatable.ts"

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: ReadonlyArray<string | number | boolean>
  readonly pattern?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly items?: JsonSchema
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly additionalProperties?: JsonSchema | boolean
}

interface Parameter {
  readonly name: string
  readonly in: "query" | "path" | "header"
  readonly required?: boolean
  readonly description?: string
  readonly schema: JsonSchema
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>
}

interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
}

interface OpenApi {
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

const REF = "#/components/schemas/"

/** Texts that are whole numbers, and texts that are decimals, by their pattern. */
const INTEGERS = new Set(["^-?\\d+$", "^(?:0|[1-9][0-9]*)$"])
const isDecimal = (pattern: string): boolean => pattern.includes("\\.[0-9]{0,29}[1-9]")

const KEYWORDS = new Set(["from", "in", "is", "class", "global", "import", "not", "or", "and", "pass", "with", "as"])

/** `inputMint` and `last-event-id` as Python names them. */
const snake = (name: string): string => {
  const words = name
    .replaceAll(/[^A-Za-z0-9]+/gu, "_")
    .replaceAll(/([a-z0-9])([A-Z])/gu, "$1_$2")
    .toLowerCase()
  return KEYWORDS.has(words) ? `${words}_` : words
}

const text = (value: string): string => JSON.stringify(value)

/** A comment of several lines, each at most 110 characters wide. */
const wrapped = (words: string, indent: string, mark: string): string => {
  const lines: Array<string> = []
  for (const word of words.split(/\s+/u)) {
    const last = lines.at(-1)
    if (last === undefined || last.length + word.length > 110) {
      lines.push(word)
    } else {
      lines[lines.length - 1] = `${last} ${word}`
    }
  }
  return lines.map((line) => `${indent}${mark}${line}\n`).join("")
}

/** Which texts of a value are numbers: `i`, `d`, a name, a list, or fields. Null when none is. */
type Shape = string | readonly [Shape] | { readonly [field: string]: Shape }

const isList = (shape: Shape | null | undefined): shape is readonly [Shape] => Array.isArray(shape)
const isFields = (shape: Shape | undefined): shape is { readonly [field: string]: Shape } =>
  typeof shape === "object" && !Array.isArray(shape)

class Writer {
  readonly #schemas: OpenApi["components"]["schemas"]
  readonly #types: Array<string> = []
  readonly #named = new Set<string>()

  constructor(schemas: OpenApi["components"]["schemas"]) {
    this.#schemas = schemas
  }

  /** The Python type of a schema. Objects without a name get one from where they stand. */
  typeOf(schema: JsonSchema, name: string): string {
    if (schema.$ref !== undefined) {
      const target = schema.$ref.slice(REF.length)
      const inner = this.#schemas[target] ?? {}
      // Texts and numbers need no name of their own.
      return inner.properties === undefined && inner.anyOf === undefined ? this.typeOf(inner, target) : target
    }
    if (schema.anyOf !== undefined) {
      const members = [...new Set(schema.anyOf.map((each, place) => this.typeOf(each, `${name}${place || ""}`)))]
      return members.length === 1 ? (members[0] ?? "Any") : `Union[${members.join(", ")}]`
    }
    if (schema.enum !== undefined) {
      return `Literal[${schema.enum.map((each) => (typeof each === "string" ? text(each) : each === true ? "True" : each === false ? "False" : each)).join(", ")}]`
    }
    switch (schema.type) {
      case "string":
        return INTEGERS.has(schema.pattern ?? "") ? "int" : isDecimal(schema.pattern ?? "") ? "Decimal" : "str"
      case "integer":
        return "int"
      case "number":
        return "float"
      case "boolean":
        return "bool"
      case "null":
        return "None"
      case "array":
        return `List[${this.typeOf(schema.items ?? {}, `${name}Item`)}]`
      case "object":
        return this.#objectOf(schema, name)
      default:
        return "Any"
    }
  }

  #objectOf({ additionalProperties, properties, required = [] }: JsonSchema, name: string): string {
    if (properties === undefined) {
      const inner = typeof additionalProperties === "object" ? this.typeOf(additionalProperties, `${name}Value`) : "Any"
      return `Dict[str, ${inner}]`
    }
    if (!this.#named.has(name)) {
      this.#named.add(name)
      const fields = Object.entries(properties).map(([field, each]) => {
        const inner = this.typeOf(each, name + field.charAt(0).toUpperCase() + field.slice(1))
        const type = required.includes(field) ? text(inner) : `NotRequired[${text(inner)}]`
        const about = each.description === undefined ? "" : wrapped(each.description, "        ", "# ")
        return `${about}        ${text(field)}: ${type},\n`
      })
      this.#types.push(`${name} = TypedDict(\n    ${text(name)},\n    {\n${fields.join("")}    },\n)\n`)
    }
    return name
  }

  /** Declarations of all named schemas. Unions come last, because they name the others. */
  declarations(): string {
    const unions: Array<string> = []
    for (const [name, schema] of Object.entries(this.#schemas)) {
      if (schema.anyOf !== undefined) {
        unions.push(`${name} = ${quoted(this.typeOf(schema, name))}\n`)
      } else if (schema.properties !== undefined) {
        this.typeOf(schema, name)
      }
    }
    return [...this.#types, ...unions].join("\n")
  }

  shapeOf(schema: JsonSchema | undefined): Shape | null {
    if (schema === undefined) {
      return null
    }
    if (schema.$ref !== undefined) {
      const target = schema.$ref.slice(REF.length)
      const inner = this.#schemas[target] ?? {}
      return inner.properties === undefined && inner.anyOf === undefined ? this.shapeOf(inner) : `#${target}`
    }
    if (schema.anyOf !== undefined) {
      return this.#unionOf(schema.anyOf)
    }
    if (schema.type === "string") {
      return INTEGERS.has(schema.pattern ?? "") ? "i" : isDecimal(schema.pattern ?? "") ? "d" : null
    }
    if (schema.type === "array") {
      const inner = this.shapeOf(schema.items)
      return inner === null ? null : [inner]
    }
    return this.#fieldsOf(schema)
  }

  #fieldsOf({ additionalProperties, properties = {} }: JsonSchema): Shape | null {
    const every = typeof additionalProperties === "object" ? this.shapeOf(additionalProperties) : null
    const fields = Object.entries(properties).flatMap(([name, each]) => {
      const inner = this.shapeOf(each)
      return inner === null ? [] : [[name, inner] as const]
    })
    const all = every === null ? fields : [...fields, ["*", every] as const]
    return all.length === 0 ? null : Object.fromEntries(all)
  }

  /** The shape of a union: of several objects, the fields of all; otherwise of the first member that has one. */
  #unionOf(members: ReadonlyArray<JsonSchema>): Shape | null {
    return members
      .map((each) => this.shapeOf(each))
      .reduce((left, right) => (right === null ? left : this.#merged(left, right)), null)
  }

  #merged(left: Shape | null, right: Shape): Shape {
    const [one, other] = [left, right].map((shape) =>
      typeof shape === "string" && shape.startsWith("#") ? this.named(shape) : shape
    )
    if (left === null || one === null || one === undefined || left === right) {
      return left === right ? right : (one ?? right)
    }
    if (isFields(one) && other !== null && isFields(other)) {
      const fields = Object.entries(other).map(([name, shape]) => [name, this.#merged(one[name] ?? null, shape)])
      return { ...one, ...Object.fromEntries(fields) }
    }
    return isList(one) && isList(other) ? [this.#merged(one[0], other[0])] : one
  }

  named(name: string): Shape | null {
    const schema = this.#schemas[name.slice(1)]
    return schema?.anyOf === undefined ? this.#fieldsOf(schema ?? {}) : this.#unionOf(schema.anyOf)
  }

  /** The shapes of all named schemas that have one. */
  shapes(): Readonly<Record<string, Shape>> {
    return Object.fromEntries(
      Object.entries(this.#schemas).flatMap(([name, schema]) => {
        const shape = schema.properties !== undefined || schema.anyOf !== undefined ? this.named(`#${name}`) : null
        return schema.properties !== undefined || schema.anyOf !== undefined ? [[`#${name}`, shape ?? {}]] : []
      })
    )
  }
}

/** The names in a type in quotes, so that they may be declared later. */
const quoted = (type: string): string => {
  const known = new Set(["Union", "List", "Dict", "Literal", "Any", "Decimal", "None", "str", "int", "float", "bool"])
  return type.includes("Literal")
    ? type
    : type.replaceAll(/\b[A-Za-z]\w*/gu, (name) => (known.has(name) ? name : text(name)))
}

const inTypes = (type: string): string =>
  type.includes('"')
    ? type
    : type.replaceAll(/\b[A-Z]\w+/gu, (name) =>
        /^(?:Union|List|Dict|Any|Decimal|None)$/u.test(name) ? name : `types.${name}`
      )

const methodOf = (writer: Writer, path: string, method: string, operation: Operation): string => {
  const { operationId, parameters = [], requestBody, responses, summary = "" } = operation
  const name = operationId.slice(operationId.indexOf(".") + 1)
  const success = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1].content ?? {}
  const isStream = success["text/event-stream"] !== undefined
  const answer = success["application/json"]?.schema
  const body = requestBody?.content?.["application/json"]?.schema
  const used = parameters.filter((each) => each.name !== "last-event-id")
  const typeOf = (each: Parameter) => inTypes(writer.typeOf(each.schema, `${operationId}${each.name}`))
  const needed = used.filter((each) => each.required === true || each.in === "path")
  const others = used.filter((each) => !needed.includes(each))
  const stem = operationId.replaceAll(/(?:^|\.)(\w)/gu, (_, letter: string) => letter.toUpperCase())
  const signature = [
    ...needed.map((each) => `${snake(each.name)}: ${typeOf(each)}`),
    ...(body === undefined ? [] : [`body: ${inTypes(writer.typeOf(body, `${stem}Body`))}`]),
    ...others.map((each) => `${snake(each.name)}: Optional[${typeOf(each)}] = None`)
  ]
  const mapping = (kind: Parameter["in"]) =>
    `{${used
      .filter((each) => each.in === kind)
      .map((each) => `${text(each.name)}: ${snake(each.name)}`)
      .join(", ")}}`
  const about = used
    .filter(({ description }) => description !== undefined)
    .map((each) => wrapped(`${snake(each.name)}: ${each.description}`, "        ", ""))
  const head = `    def ${snake(name)}(self${signature.length === 0 ? "" : `, *, ${signature.join(", ")}`})`
  const doc = `        """${`${summary}. ${operation.description ?? ""}`.trim().replaceAll("\\", "\\\\")}\n${about.length === 0 ? "" : `\n${about.join("")}`}        """\n`
  if (isStream) {
    return `${head} -> Iterator[Tuple[str, Dict[str, Any]]]:\n${doc}        return self._core.stream(${text(path)}, params=${mapping("path")}, query=${mapping("query")})\n`
  }
  const isFile = success["application/vnd.apache.parquet"] !== undefined
  const type = isFile
    ? "Union[str, bytes]"
    : answer === undefined
      ? "None"
      : inTypes(writer.typeOf(answer, `${stem}Answer`))
  const shape = writer.shapeOf(answer)
  const keyed = used.some((each) => each.in === "header")
  const repeats = isRepeatable({ id: operationId, method: method.toUpperCase(), isKeyed: false })
    ? "True"
    : keyed && isRepeatable({ id: operationId, method: method.toUpperCase(), isKeyed: true })
      ? "idempotency_key is not None"
      : "False"
  const lines = [
    `            ${text(method.toUpperCase())},`,
    `            ${text(path)},`,
    `            params=${mapping("path")},`,
    `            query=${mapping("query")},`,
    ...(body === undefined
      ? []
      : [
          "            body=body,",
          `            sends=${JSON.stringify(writer.shapeOf(body))?.replace("null", "None")},`
        ]),
    ...(keyed ? [`            headers=${mapping("header")},`] : []),
    `            shape=${shape === null ? "None" : JSON.stringify(shape)},`,
    "            shapes=SHAPES,",
    `            repeats=${repeats},`
  ]
  return `${head} -> ${type}:\n${doc}        return self._core.call(\n${lines.join("\n")}\n        )\n`
}

const NOTE = "# Made from the OpenAPI document by scripts/python.ts.\n"

const classOf = (group: string) => `${group.charAt(0).toUpperCase()}${group.slice(1)}Calls`

/** Writes the package into a folder. */
export const buildPython = (folder: string): void => {
  const document: OpenApi = JSON.parse(readFileSync(pathOf("../../src/api/openapi.json"), "utf8"))
  const { license, version } = JSON.parse(readFileSync(pathOf("../../package.json"), "utf8"))
  const inside = join(folder, "fathom_client")
  mkdirSync(inside, { recursive: true })
  cpSync(pathOf("../../src/client/python"), folder, {
    recursive: true,
    filter: (name) => !name.includes("__pycache__")
  })
  cpSync(pathOf("../../LICENSE"), join(folder, "LICENSE"))
  const writer = new Writer(document.components.schemas)
  const groups = new Map<string, Array<string>>()
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const group = operation.operationId.slice(0, operation.operationId.indexOf("."))
      groups.set(group, [...(groups.get(group) ?? []), methodOf(writer, path, method, operation)])
    }
  }
  const types = `"""Types of the contract. Amounts are int, decimals Decimal, unknown values None."""\n${NOTE}
from __future__ import annotations

from decimal import Decimal
from typing import Any, Dict, List, Literal, NotRequired, TypedDict, Union

${writer.declarations()}`
  const classes = Array.from(
    groups,
    ([group, methods]) =>
      `class ${classOf(group)}:\n    def __init__(self, core: Core) -> None:\n        self._core = core\n\n${methods.join("\n")}`
  )
  const fields = Array.from(groups.keys(), (group) => `        self.${snake(group)} = ${classOf(group)}(core)`)
  const client = `"""Every call of the contract, by group."""\n${NOTE}
from __future__ import annotations

from decimal import Decimal
from typing import Any, Dict, Iterator, List, Literal, Optional, Tuple, Union

from . import types
from ._core import Core, Retry

#: Which texts of the answers are numbers.
SHAPES: Dict[str, Any] = ${JSON.stringify(writer.shapes())}


${classes.join("\n\n")}

class Client:
    """A client of one service. \`key\` is the secret of an API key; \`timeout\` is in seconds, for each attempt."""

    def __init__(self, base_url: str, key: str, *, retry: Optional[Retry] = None, timeout: float = 30.0) -> None:
        core = Core(base_url, key, retry, timeout)
${fields.join("\n")}
`
  writeFileSync(join(inside, "types.py"), types)
  writeFileSync(join(inside, "_client.py"), client)
  writeFileSync(join(inside, "py.typed"), "")
  writeFileSync(
    join(inside, "__init__.py"),
    `"""The client of the Fathom developer API."""\n\nfrom ._client import Client\nfrom ._core import FathomError, Retry\nfrom ._watch import watch_market, watch_tracker\n\n__all__ = ["Client", "FathomError", "Retry", "watch_market", "watch_tracker"]\n__version__ = ${text(version)}\n`
  )
  writeFileSync(
    join(folder, "pyproject.toml"),
    `[build-system]\nrequires = ["setuptools>=61"]\nbuild-backend = "setuptools.build_meta"\n\n[project]\nname = "fathom-client"\nversion = ${text(version)}\ndescription = "The client of the Fathom developer API, without dependencies."\nreadme = "README.md"\nrequires-python = ">=3.11"\nlicense = { text = ${text(license)} }\n\n[tool.setuptools]\npackages = ["fathom_client"]\n\n[tool.setuptools.package-data]\nfathom_client = ["py.typed"]\n`
  )
}
