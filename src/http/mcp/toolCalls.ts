/** The tools by name, and the tool that a message calls. */
import { contractDocument } from "../pages/ApiDocument.ts"
import type { Message } from "./messages.ts"
import { guides } from "./guides.ts"
import { argumentFault } from "./toolArguments.ts"
import { type ContractDocument, type ReadTool, readTools } from "./tools.ts"

let made: ReadonlyMap<string, ReadTool> | undefined

/** Every tool by its name: the usual ones in the order of their guides, then the others. They are made once. */
export const tools = (): ReadonlyMap<string, ReadTool> => {
  if (made === undefined) {
    const all = new Map(readTools(contractDocument() as ContractDocument).map((tool) => [tool.name, tool]))
    const first = Array.from(guides.keys()).flatMap((name) => all.get(name) ?? [])
    made = new Map([...first, ...all.values()].map((tool) => [tool.name, tool]))
  }
  return made
}

const argumentsOf = (value: unknown): Readonly<Record<string, unknown>> | null =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null

/** The tool of a call that will read its endpoint; null for every other message, and for a call with a fault. */
export const callOf = ({ id, method, params }: Message): ReadTool | null => {
  const tool = method === "tools/call" && id !== null ? tools().get(String(params["name"])) : undefined
  const args = argumentsOf(params["arguments"] ?? {})
  return tool === undefined || args === null || argumentFault(tool, args) !== null ? null : tool
}
