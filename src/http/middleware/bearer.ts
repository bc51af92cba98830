const BEARER = /^Bearer +(?<secret>\S.*)$/iu

/** What follows the scheme; undefined when there is no bearer token. */
export const bearerOf = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : BEARER.exec(authorization)?.groups?.["secret"]
