import { useRoute } from "preact-iso"
import { Contents } from "./Contents.tsx"
import type { Reference } from "./document.ts"
import { Errors, Limits, Start } from "./guides.tsx"
import { Live } from "./Live.tsx"
import { OperationPage } from "./OperationPage.tsx"
import { Prose } from "./Prose.tsx"
import { proseText } from "./prose.ts"
import { useLiving } from "./useLiving.ts"
import { useReference } from "./useReference.ts"
import { Loading, Shown } from "../parts/States.tsx"
import { NotFound } from "../frame/NotFound.tsx"
import "../style/docs.css"

const Content = ({ page, reference }: { readonly page: string; readonly reference: Reference }) => {
  const operation = reference.operations.find(({ operationId }) => operationId === page)
  const living = useLiving(operation?.tags[0] ?? "")
  if (page === "errors") {
    return <Errors reference={reference} />
  }
  if (page === "limits") {
    return <Limits reference={reference} />
  }
  if (page === "live") {
    return <Live />
  }
  if (proseText(page) !== undefined) {
    return <Prose page={page} />
  }
  if (page !== "" && operation === undefined) {
    return <NotFound />
  }
  if (living === null) {
    return <Loading what="example values" rows={8} />
  }
  return operation === undefined ? (
    <Start reference={reference} living={living} />
  ) : (
    <OperationPage key={page} reference={reference} operation={operation} living={living} />
  )
}

/** The reference, made from the OpenAPI document. */
export const Docs = () => {
  const { params } = useRoute()
  const read = useReference()
  const page = params["page"] ?? ""
  return (
    <>
      {read.answer === null && <h1>Reference</h1>}
      <Shown read={read} what="the reference" rows={12}>
        {(reference) => (
          <div class="docs">
            <Contents reference={reference} current={page} />
            <div class="page">
              <Content page={page} reference={reference} />
            </div>
          </div>
        )}
      </Shown>
    </>
  )
}
