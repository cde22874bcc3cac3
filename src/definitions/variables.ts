import { type Diagnostic, diagnostic } from '../diagnostics/index.ts'
import { onlyEntry } from './organization.ts'
import { entryOf, type Tree, textOf } from './tree.ts'

/**
 * Names of variables that hold keys, tokens and passwords, here or in the tools around: nothing that a definition says is
 * secret, so none of them can be declared. A name that says that its value is public or encrypted may.
 */
const SECRET_NAMES: readonly RegExp[] = [
  /^QUORATE_((\w+_)?KEYS?($|_)|PLAN_STORE$)/,
  /^TEMPORAL_(API_KEY|TLS)/,
  /^(AWS|AZURE|GOOGLE|GCP|GITHUB|ACTIONS|NPM|NODE_AUTH|VAULT|SSH|GPG)_/,
  /(^|_)(API|PRIVATE|SECRET|MASTER|ACCESS|SIGNING|ENCRYPTION|ACCOUNT|DEPLOY|SSH|SERVICE)_?KEY(S|_FILE|_COMMAND|_PATH)?($|_)/,
  /(^|_)(TOKEN|SECRET|SECRETS|PASSWORD|PASSWD|PASS|PASSPHRASE|MNEMONIC|SEED|CREDENTIALS?|COOKIE|SESSION|BEARER|AUTH|PAT)($|_)/,
  /(^|_)(DATABASE|DB|REDIS|MONGO|POSTGRES|MYSQL|AMQP|CONNECTION|DSN)(_?(URL|URI|STRING))?$/,
]
const PUBLIC_NAME = /(^|_)(PUBLIC|ENCRYPTED)_/

/** The advice for a variable with such a name. */
export const SECRET_NAMES_HELP =
  'variables of keys, tokens, passwords and connections (`QUORATE_API_KEY`, `TEMPORAL_API_KEY`, `DATABASE_URL`, `AWS_*`, `*_TOKEN`, `*_SECRET`, `*_PASSWORD`, `*_PRIVATE_KEY` and the like) cannot be declared: plans and reports hold what definitions say; give what is no secret by a name of its own'

/** Whether a variable of this name is taken to hold a secret. */
export function isSecretName(name: string): boolean {
  const upper = name.toUpperCase()
  return !PUBLIC_NAME.test(upper) && SECRET_NAMES.some((pattern) => pattern.test(upper))
}

/** The environment variables that files declare under `variables`, and what is wrong with their declarations. */
export function readVariables(files: readonly Tree[]): {
  readonly declared: ReadonlySet<string>
  readonly diagnostics: readonly Diagnostic[]
} {
  const diagnostics: Diagnostic[] = []
  const list = onlyEntry('variables', files, diagnostics)?.value
  const declared = new Set<string>()
  for (const item of list?.kind === 'list' ? list.items : []) {
    const name = textOf(item)
    if (name === undefined) continue
    if (isSecretName(name)) diagnostics.push(secretVariable(name, item.span))
    else declared.add(name)
  }
  return { declared, diagnostics }
}

/** That a definition refers to a variable, or declares one, which may hold a secret. */
export function secretVariable(name: string, span: Tree['span']): Diagnostic {
  const message = `\`${name}\` is the name of a secret, and no definition may refer to it`
  return diagnostic('definitions/secret-variable', message, span, { help: SECRET_NAMES_HELP })
}

/** That a definition refers to a variable that is not declared; the help is what to write. */
export function undeclaredVariable(name: string, span: Tree['span'], declared: ReadonlySet<string>): Diagnostic {
  const help =
    declared.size === 0
      ? `add \`variables: [${name}]\` at the top of one of the files`
      : `add it: \`variables: [${[...declared, name].join(', ')}]\``
  return diagnostic('definitions/undeclared-variable', `environment variable \`${name}\` is not declared`, span, {
    help,
  })
}

/** The scalar of `id: ${env.NAME}`, which declares the variable by itself: an id is no secret, and nothing but a UUID will do. */
export function idOf(file: Tree): Tree | undefined {
  const id = entryOf(file, 'id')?.value
  return /^\$\{env\.\w+\}$/.test(textOf(id) ?? '') ? id : undefined
}
