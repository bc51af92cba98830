const BEARER = /^Bearer +(?<secret>\S.*)$/iu

/** The token of an Authorization header; undefined when it is not a bearer token. */
export const bearerOf = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : BEARER.exec(authorization)?.groups?.["secret"]
