/**
 * Config: environment and flags become one typed settings object. No other room reads the process's environment.
 */
export { configCodes } from './codes.ts'
export { environmentOfBackground, takeEnvironment, withoutSecrets } from './environment.ts'
export { KEY_VARIABLE, readSettings, type SettingFlags, type Settings, settingRows } from './settings.ts'
