import { render } from 'preact';
import './main.css';
import { App } from './app.tsx';

const place = document.querySelector('#app');
if (place) render(<App />, place);
