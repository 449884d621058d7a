import { render } from 'preact';
import './main.css';
import { App } from './app.tsx';
import { SharedApp } from './shared-app.tsx';
import { sharedWebhook } from './shared-webhook.ts';

const place = document.querySelector('#app');
if (place) render(sharedWebhook ? <SharedApp /> : <App />, place);
