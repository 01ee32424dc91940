import { mount } from 'svelte';
import App from './App.svelte';
import { takeToken } from './lib/api';
import './style/page.css';

takeToken();
mount(App, { target: document.getElementById('page')! });
