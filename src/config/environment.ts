import { KEY_VARIABLE, PAYLOAD_KEY_VARIABLE } from './settings.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Variables in which people give a key, a password or another secret of quorate: `QUORATE_API_KEY`, `QUORATE_SMTP_PASSWORD`; and those that
 * let it in at Temporal, as Temporal's own configuration names them.
 */
const OWN_SECRET =
  /^(QUORATE_\w*(KEY|PASSWORD|SECRET|TOKEN)|QUORATE_NOTIFY_\w+|QUORATE_PLAN_STORE|DATABASE_URL|TEMPORAL_(API_KEY|TLS_CLIENT_KEY_DATA|CODEC_AUTH|GRPC_META_\w+))$/

/** What was taken out of the environment of this process. */
const taken = new Map<string, string>()

/**
 * The environment of the process. Secrets are taken out of `process.env` when it is first read, so that no child inherits one;
 * the answer has them.
 */
export function takeEnvironment(): Environment {
  for (const [name, value] of Object.entries(process.env)) {
    if (!OWN_SECRET.test(name) || value === undefined) continue
    taken.set(name, value)
    delete process.env[name]
  }
  return { ...process.env, ...Object.fromEntries(taken) }
}

/** An environment for another's program, which has no business with a secret of quorate. */
export function withoutSecrets(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !OWN_SECRET.test(name)))
}

/** For the background process, which sends the messages of the service: the keys it needs are told to it otherwise. */
export function environmentOfBackground(): Environment {
  const { [KEY_VARIABLE]: _, [PAYLOAD_KEY_VARIABLE]: __, ...rest } = takeEnvironment()
  return rest
}
