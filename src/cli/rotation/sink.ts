/** Where a new key goes, as the options of `rotate key` say it: of one key, or of many with words that stand for each. */
import { resolve } from 'node:path'
import { type RotationSink, readReplaced, SECRET_STORES } from '../../../activities/index.ts'
import { QuorateError } from '../../diagnostics/index.ts'
import type { DueKey } from '../../operations/index.ts'
import type { CommandInput } from '../command.ts'
import { parseDuration } from '../durations.ts'
import { line } from '../screen.ts'

/** Throws `cli/usage` unless one sink is given, and in its form, and `rotate/sink-failed` for a file that is no key file. */
export function readSink(options: CommandInput['options']): RotationSink {
  const [file, env, command, store] = ['toFile', 'toEnv', 'toCommand', 'toStore'].map((name) => textOf(options, name))
  if ([file, env, command, store].filter((one) => one !== undefined).length !== 1) {
    throw usage(
      'where the new key goes is not said, or more than once',
      'give one of --to-file, --to-env, --to-store and --to-command',
    )
  }
  if (file !== undefined) {
    const path = resolve(file)
    try {
      readReplaced(path)
    } catch (error) {
      // The worker looks again, perhaps on another machine: what cannot be read here is for it to say.
      if (error instanceof QuorateError) throw error
    }
    return { kind: 'file', path }
  }
  if (command !== undefined) return { kind: 'command', command }
  if (store !== undefined) return readStore(store)
  const [, path, variable] = /^(.+):([A-Za-z_][A-Za-z0-9_]*)$/.exec(env!) ?? []
  if (path === undefined) throw usage('--to-env names no variable', 'give it as --to-env .env:QUORATE_API_KEY')
  return { kind: 'env-file', path: resolve(path), variable: variable! }
}

/** How long a store may be away, where that is said. Throws `cli/usage`. */
export function readAway(options: CommandInput['options']): { readonly awayMs?: number } {
  const text = textOf(options, 'giveUpAfter')
  if (text === undefined) return {}
  if (textOf(options, 'toStore') === undefined)
    throw usage('--give-up-after is for stores', 'leave it out: what other sinks answer is final')
  return { awayMs: parseDuration(text, '--give-up-after') }
}

/** How each store names a secret. */
const SECRET_PATHS: Record<(typeof SECRET_STORES)[number], { readonly path: RegExp; readonly example: string }> = {
  vault: { path: /^[\w.-]+(?:\/[\w.@-]+)+$/, example: 'vault:secret/ci#key' },
  'aws-secrets-manager': { path: /^[\w/+=.@:-]+$/, example: 'aws-secrets-manager:prod/ci' },
  kubernetes: { path: /^[a-z0-9-]+\/[a-z0-9.-]+$/, example: 'kubernetes:default/ci#key' },
}

function readStore(text: string): RotationSink {
  const [, name, path = '', field] = /^([a-z-]+):([^#]+)(?:#([\w.-]+))?$/.exec(text) ?? []
  const store = SECRET_STORES.find((one) => one === name)
  const isDots = path.split('/').some((part) => part === '.' || part === '..')
  if (store && SECRET_PATHS[store].path.test(path) && !isDots)
    return { kind: 'store', store, path, ...(field === undefined ? {} : { field }) }
  const examples = SECRET_STORES.map((one) => SECRET_PATHS[one].example)
  throw usage('--to-store names no secret of a store', `give it as ${examples.join(', or ')}`)
}

/** The words of a sink of many keys, each with what it stands for. */
const WORDS: Readonly<Record<string, (due: DueKey) => string>> = {
  user: ({ user }) => user.name,
  'user-id': ({ user }) => user.id,
  key: ({ key }) => key.name,
  'key-id': ({ key }) => key.id,
}

/**
 * The sink of each of many keys: `{user}`, `{key}`, `{user-id}` and `{key-id}` stand for those of the key. A command has no such
 * words, since a name could be read as a command: it finds them in its variables.
 */
export function sinksOfMany(options: CommandInput['options']): (due: DueKey) => RotationSink {
  const names = ['toFile', 'toEnv', 'toStore'].filter((name) => textOf(options, name) !== undefined)
  const taken = new Map<string, DueKey>()
  return (due) => {
    const filled = names.map((name) => [name, fill(textOf(options, name)!, due)])
    const sink = readSink({ ...options, ...Object.fromEntries(filled) })
    if (sink.kind === 'command') return sink
    // A file system may not tell upper case from lower case.
    const place = JSON.stringify(sink).toLowerCase()
    const other = taken.get(place)
    if (other) {
      const both = `\`${other.key.name}\` of \`${other.user.name}\` and \`${due.key.name}\` of \`${due.user.name}\``
      throw usage(`the new keys of ${both} would go to one place`, 'tell them apart with {user} and {key}, or {key-id}')
    }
    taken.set(place, due)
    return sink
  }
}

function fill(template: string, due: DueKey): string {
  return template.replaceAll(/\{([a-z-]+)\}/g, (all, word: string) => {
    const text = Object.hasOwn(WORDS, word) ? WORDS[word]!(due) : undefined
    if (text === undefined)
      throw usage(`\`${all}\` stands for nothing`, `the words are {${Object.keys(WORDS).join('}, {')}}`)
    // A name is anybody's text: it must not lead to another folder or secret.
    if (/^[A-Za-z0-9_@-][A-Za-z0-9_.@-]*$/.test(text)) return text
    throw usage(
      `the name \`${text}\` cannot stand in the place of ${all}`,
      `use {${word}-id}, or leave \`${due.user.name}\` out with --except`,
    )
  })
}

export function textOf(options: CommandInput['options'], name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

export function usage(message: string, next: string): QuorateError {
  return new QuorateError('cli/usage', message, { facts: { submitted: 'nothing' }, next: line`${next}` })
}
