/** The OpenAPI document, read once and kept while the page is open. */
import { send } from "../data/request.ts"
import { type Read, useReading } from "../data/useRead.ts"
import { type ApiDocument, type Reference, referenceOf } from "./document.ts"

let reading: Promise<Reference> | null = null

const readReference = (): Promise<Reference> => {
  reading ??= send("GET", "/openapi.json").then(
    (document) => referenceOf(document as ApiDocument),
    (cause: unknown) => {
      reading = null
      throw cause
    }
  )
  return reading
}

export const useReference = (): Read<Reference> => useReading("openapi", readReference)
