import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Document, parseAllDocuments } from 'yaml'
import { isTestFile, LOCK_FILE, readInside } from '../definitions/index.ts'
import { assertFolder } from './load-folder.ts'

/** Facts of definitions before they can be loaded: the outside values that they use, and their root users. */
export interface Survey {
  readonly organization?: string
  /** The first member of the root quorum: who a new service's root user becomes. */
  readonly rootUser?: string
  /** The members of the root quorum, by name. */
  readonly quorum: readonly string[]
  /** What the definitions call the first API key of that user: the name of a new service's first key. */
  readonly rootKey?: string
  /** The variable in `id: ${env.NAME}`. */
  readonly idVariable?: string
  /** Every `${var.NAME}`. */
  readonly vars: readonly string[]
}

/**
 * Reads a folder's YAML without judging it; whatever is wrong is said when the definitions are loaded. Throws
 * `cli/no-definitions` where no folder is.
 */
export function surveyDefinitions(folder: string): Survey {
  assertFolder(folder)
  const texts = readdirSync(folder)
    .filter((name) => /\.ya?ml$/.test(name) && name !== LOCK_FILE && !isTestFile(name))
    .sort()
    .flatMap((name) => textOf(folder, name) ?? [])
  const parts = texts
    .flatMap((text) => parseAllDocuments(text, { uniqueKeys: false }))
    .flatMap((document) => ('toJS' in document ? [plainOf(document)] : []))
  const whole: Record<string, unknown> = Object.assign(
    {},
    ...parts.filter((part) => typeof part === 'object' && part !== null),
  )
  const users = (whole['rootQuorum'] as { users?: unknown } | undefined)?.users
  const quorum = Array.isArray(users) ? users.filter((user) => typeof user === 'string') : []
  const rootUser = quorum[0]
  const [rootKey] = parts.flatMap((part) => keyNamesOf(part, rootUser))
  const id = String(whole['id'] ?? '').match(/^\$\{env\.(\w+)\}$/)?.[1]
  return {
    ...(typeof whole['organization'] === 'string' ? { organization: whole['organization'] } : {}),
    ...(rootUser === undefined ? {} : { rootUser }),
    ...(rootKey === undefined ? {} : { rootKey }),
    ...(id === undefined ? {} : { idVariable: id }),
    quorum,
    vars: [
      ...new Set(texts.flatMap((text) => [...text.matchAll(/\$\{var\.(\w+)\}/g)].map((match) => match[1]!))),
    ].sort(),
  }
}

/** The names of the API keys that a file gives a user. */
function keyNamesOf(part: unknown, user: string | undefined): readonly string[] {
  const users = (part as { users?: Readonly<Record<string, { apiKeys?: unknown } | null>> } | null)?.users
  const apiKeys = user === undefined ? undefined : users?.[user]?.apiKeys
  return typeof apiKeys === 'object' && apiKeys !== null && !Array.isArray(apiKeys) ? Object.keys(apiKeys) : []
}

/** The plain value of a document; nothing of one whose aliases multiply without end. */
function plainOf(document: Document): unknown {
  try {
    return document.toJS()
  } catch {
    return undefined
  }
}

function textOf(folder: string, name: string): string | undefined {
  try {
    return new TextDecoder().decode(readInside(folder, join(folder, name)))
  } catch {
    return undefined
  }
}
