/** Requests of the walk and their answers, written to the file `EXAMPLES_FILE`: the examples of the document are made of them. */
import { afterAll } from "@effect/vitest"
import { writeFileSync } from "node:fs"
import type { Answered, Operation } from "../support/openapi.ts"
import { LAST_ID, type Request } from "./walkRequests.ts"

const file = process.env["EXAMPLES_FILE"]
const recorded: Array<object> = []

/** Keeps an exchange until the walk ends. `id` is that of the path where it was made just before. */
export const record = ({ id: operation }: Operation, request: Request, answer: Answered, id: string): void => {
  if (file !== undefined) {
    const { body, params = {}, query = {} } = request
    const { headers, status, text } = answer
    const type = (headers.get("content-type") ?? "").split(";")[0]
    const named = params["id"] === LAST_ID ? { ...params, id } : params
    recorded.push({ operation, params: named, query, body, status, type, text })
  }
}

if (file !== undefined) {
  afterAll(() => writeFileSync(file, JSON.stringify(recorded)))
}
