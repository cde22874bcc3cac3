import { type Codes, EXIT } from '../diagnostics/index.ts'

export const cliCodes = {
  'cli/usage': {
    summary: 'the command line is not one that quorate knows',
    solve: 'run `quorate --help` or `quorate COMMAND --help`',
  },
  'cli/plan-store': {
    summary: 'the environment names another place for the plan store than the data folder works with',
    solve: 'run `quorate plan-store use`, or unset QUORATE_PLAN_STORE; nothing was submitted',
    exit: EXIT.refused,
  },
  'cli/key-in-file': {
    summary: 'a plan, a report, a lock file or a definition that would be written holds a private key or a mnemonic',
    solve: 'take the key out where it comes from, and make a new one in its place; nothing was written',
  },
  'cli/compromised-key': {
    summary: 'a definition names an API key that an incident has marked as compromised',
    solve: 'put the public key of a new one in its place, or take it out; nothing was submitted',
  },
  'cli/lock-out': {
    summary: 'a key that is to be cut off is the only way in of somebody without whom nobody could change anything',
    solve: 'register a new key for this user first, then cut the old one off',
    exit: EXIT.refused,
  },
  'cli/key-in-output': {
    summary: 'what would be printed holds the private key that the command works with',
    solve: 'take the key out where it comes from, and make a new one in its place; nothing was printed',
  },
  'cli/key-in-plan': {
    summary: 'an activity of a plan would carry a private key to where others read it',
    solve: 'take the key out of the definitions or the values given to them, and make a new one; nothing was submitted',
    exit: EXIT.refused,
  },
  'cli/no-definitions': {
    summary: 'no folder of definitions was named or found',
    solve: 'name the folder, or make one with `quorate init`',
  },
  'cli/no-service-here': {
    summary: 'the data folder has no service, and only `up` begins one: a new one would have a new organization',
    solve:
      'work where the organization was made, or give its data folder with `--data-dir`; for one that lives elsewhere give `--base-url` and `--organization-id`; for a new one `quorate up`; nothing was started or submitted',
  },
  'cli/other-organization': {
    summary: 'the definitions belong to another organization than the settings say',
    solve: 'correct `id:` in the definitions or the organization id in the settings; nothing was submitted',
  },
  'cli/refused': {
    summary: 'a guard stopped the plan',
    solve: 'change the definitions, or give the flag that the guard names',
    exit: EXIT.refused,
  },
  'cli/not-as-planned': {
    summary: 'the activity asks for something else than the plan does, of the same thing',
    solve: 'ask who requested it, and reject it; `quorate approve --despite-mismatch` approves it all the same',
    exit: EXIT.refused,
  },
  'cli/votes-broken-off': {
    summary: 'one of several votes failed, or it is unknown whether a vote was cast',
    solve:
      'the message names what was cast, what is unknown and what was not cast, each by its id; vote again on the last two',
    exit: EXIT.partial,
  },
  'cli/not-as-in-file': {
    summary:
      'a row of the batch is not what waits for approval under its reference, or may be taken for something else',
    solve: 'ask who sent it, and reject it; nothing was voted',
    exit: EXIT.refused,
  },
  'cli/other-user': {
    summary: 'the plan was made for another user than the one whose key is in use',
    solve: 'apply it with a key of the user that the plan names, or plan again with this key',
  },
  'cli/not-listening': {
    summary: 'the webhook endpoint that `quorate webhooks listen` needs was not made, or its service has gone',
    solve:
      'see that the service runs with `quorate doctor`, and why with `quorate activities`; a key that may only read makes none',
  },
  'cli/webhook-keys': {
    summary: 'the keys that webhooks are signed with cannot be read',
    solve: 'name the service with `--base-url`, or a file with its keys with `--keys`',
  },
  'cli/unknown-name': {
    summary: 'a name of a wallet, a receiver, an asset or a send is not known',
    solve:
      'name a wallet of the organization, a receiver or an asset of the definitions, or a reference of `quorate sends`',
  },
  'cli/send-denied': {
    summary: 'the live policies would deny the send',
    solve: 'see why with `quorate send --dry-run`; nothing was submitted',
    exit: EXIT.refused,
  },
  'cli/reference-taken': {
    summary: 'a reference is used already, for another send than this one',
    solve:
      'give the send a reference of its own; if the named activity has another reference in your records, say so with `--not ACTIVITY`; nothing was submitted',
    exit: EXIT.refused,
  },
  'cli/reference-alike': {
    summary: 'a reference looks like one that was used, or like another of its file, and both pay the same to the same',
    solve:
      'write it as it was written before; if this is another payment, say so with `--not REFERENCE`; nothing was submitted',
    exit: EXIT.refused,
  },
  'cli/sent-elsewhere': {
    summary: 'the organization has an activity that pays the same to the same, and this ledger does not know it',
    solve: 'look at that activity; if this is another payment, say so with `--not ACTIVITY`; nothing was submitted',
    exit: EXIT.refused,
  },
  'cli/too-little': {
    summary: 'who is to pay has less than the send takes, by a node of QUORATE_CHAINS and by the API',
    solve: 'fund the address and give the same command again; nothing was submitted',
    exit: EXIT.refused,
  },
  'cli/other-decimals': {
    summary:
      'an asset is defined with other decimals than its contract has, as the service or a node of QUORATE_CHAINS says',
    solve: 'correct `decimals` in the definitions; nothing was submitted',
    exit: EXIT.refused,
  },
  'cli/no-token': {
    summary: 'where an asset is defined to be there is no contract, as a node of QUORATE_CHAINS says',
    solve: 'correct `address` or `chain` in the definitions; nothing was submitted',
    exit: EXIT.refused,
  },
  'cli/not-replaceable': {
    summary: 'the send to replace or to cancel is not being broadcast',
    solve: 'see its state with `quorate sends`; nothing was submitted',
    exit: EXIT.refused,
  },
  'cli/no-transaction': {
    summary: 'a node does not have the transaction of a send, or answers with data that does not match its hash',
    solve: 'name a node that has it, with --node or QUORATE_CHAINS; nothing was submitted',
  },
  'cli/reference-twice': {
    summary: 'a reference stands twice in a file of sends',
    solve: 'give each send a reference of its own; nothing was submitted',
  },
  'cli/batch-stopped': {
    summary: 'the batch of these rows was stopped, and rows of it were not submitted',
    solve: 'give --resume to send them too; nothing was submitted by this command',
    exit: EXIT.refused,
  },
  'cli/unknown-power': {
    summary: 'what is asked of `quorate who-can` is none of the powers that it knows',
    solve: 'name one that the message lists, or none to see all; nothing was submitted',
  },
  'cli/unknown-user': {
    summary: 'no user has this name, or several have',
    solve: 'give the name, address or id of a user; nothing was submitted',
  },
  'cli/unknown-wallet': {
    summary: 'no wallet or private key has this name, or several have',
    solve: 'give its name, address or id as `quorate who-can` lists them; nothing was submitted',
  },
  'cli/unknown-chain': {
    summary: 'the API does not send to a chain that a file of sends names',
    solve: 'name a chain that the API sends to; a service of your own is told of chains with `--chain`',
  },
  'cli/csv-malformed': {
    summary: 'a file of sends is not CSV',
    solve: 'correct the quotes at the place that the message names; nothing was submitted',
  },
  'cli/csv-columns': {
    summary: 'the first line of a file of sends does not name its columns',
    solve: 'name the columns as the options of `quorate send` are called; nothing was submitted',
  },
  'cli/csv-row': {
    summary: 'a row of a file of sends has more or fewer cells than the file has columns, or the file has no row',
    solve: 'correct the row, or leave the line empty; nothing was submitted',
  },
  'cli/not-confirmed': {
    summary: 'what the command would do was not confirmed',
    solve: 'answer yes, or give --yes where nobody can be asked',
  },
  'cli/apply-runs': {
    summary: 'another plan is being applied to this organization',
    solve: 'follow it with `quorate status`, or stop it with `quorate status --cancel`',
  },
  'cli/still-runs': {
    summary: 'what was followed has not ended within `--wait`; the background process, or a worker, goes on with it',
    solve: 'follow it again with `quorate status --follow` or the same command: nothing is submitted twice',
    exit: EXIT.waiting,
  },
  'cli/old-node': {
    summary: 'this Node.js is too old',
    solve: 'install Node.js 22.15 or newer; in a clone, run through npm or npx',
  },
  'cli/foreign-key': {
    summary: 'a key given for a sub-organization is that of none of its users',
    solve: 'give a key of one of its users, or remove the file: then what is inside is compared and left alone',
  },
  'cli/run-ended': {
    summary: 'somebody ended an apply, a send or a batch at Temporal, and nobody carries it out now',
    solve: 'run the same command again: what was submitted is found, and nothing is submitted or paid twice',
  },
  'cli/no-worker': {
    summary: 'a Temporal server is there, but no worker works for this organization',
    solve:
      'start one with `quorate worker`, or with `quorate up` where the embedded service is used, with the settings of the apply',
  },
  'cli/not-watched': {
    summary: 'the organization is not watched from this data folder',
    solve: 'begin with `quorate watch add FOLDER`',
  },
  'cli/watch-unchanged': {
    summary: 'Temporal was asked to pause or resume a watch, and does not tell it as paused or resumed',
    solve: 'see how it stands with `quorate watch list`, and give the command again',
  },
  'cli/watched-definitions': {
    summary: 'the definitions that an organization is watched with have errors where the worker loads them',
    solve: 'mend them and give them again with `quorate watch add FOLDER`',
  },
  'cli/background-failed': {
    summary: 'the background process did not come up',
    solve: 'read the log that the message names',
  },
  'cli/background-runs': {
    summary: 'a background process works in the data folder',
    solve: 'stop it with `quorate down`',
  },
  'cli/background-down': {
    summary:
      'the background process of the data folder does not run: it was stopped, or died; a command that only looks does not bring it up',
    solve: '`quorate up` starts it, and what is open goes on then; nothing was started or submitted',
  },
  'cli/background-silent': {
    summary: 'the background process of the data folder runs and does not answer',
    solve:
      'wait and run the command again; `quorate down` ends it, by force where it must, and `quorate up` starts it again: nothing is lost',
  },
  'cli/background-other': {
    summary: 'the background process works for another organization or key',
    solve: 'stop it with `quorate down`, then run the command again',
  },
  'cli/no-activity': {
    summary: 'no activity that waits or has ended lately has this id, fingerprint or code',
    solve:
      'list what waits with `quorate activities --waiting --all`; check the organization and the base URL that the message names',
  },
  'cli/unwritable': {
    summary: 'a file cannot be written',
    solve:
      'do what it says of the folder or the disk, or choose another file; before a command that submits, nothing was submitted',
  },
  'cli/no-tests': {
    summary: 'a folder holds no scenarios',
    solve: 'write some into a file such as `policies.test.yaml` beside the definitions',
  },
  'cli/unreadable': {
    summary: 'a file that was named cannot be read',
    solve: 'check that it exists and who may read it',
  },
  'cli/denied': {
    summary: 'an activity of the plan would be refused, so nothing was submitted',
    solve:
      'apply with the key of somebody who may, or add a policy that allows it; give a new user who would have no way in a credential, or set the login feature of their contact',
    exit: EXIT.refused,
  },
  'cli/rejected': {
    summary: 'somebody who may vote rejected an activity of equal intent, so nothing was submitted',
    solve:
      'ask them why and change the definitions; or give --ask-again, which asks once more as a new activity. A rejection holds on every machine until an activity of equal intent completes',
    exit: EXIT.refused,
  },
  'cli/exists': {
    summary: 'a file that would be written exists already',
    solve: 'choose another folder, or remove the file',
  },
} as const satisfies Codes
